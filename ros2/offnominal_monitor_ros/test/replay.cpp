// Plays a bag to the node, which is compiled against the stubs, and writes what it publishes as lines of JSON.
//
//     replay FILE.monitor MAPPING.toml|- BAG.mcap [SECONDS SERVICE]...
//
// A service is called so many seconds after the first message.

#include "mcap_bag.hpp"
#include "offnominal_monitor_ros/node.hpp"

#include <cstdio>
#include <iomanip>
#include <iostream>
#include <sstream>

using diagnostic_msgs::msg::DiagnosticArray;
using offnominal_msgs::msg::Verdict;

namespace
{

std::string quoted(const std::string & text)
{
  std::string found = "\"";
  for (const char c : text) {
    found += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return found + "\"";
}

template<class Items, class Tell>
std::string list(const Items & items, Tell tell)
{
  std::string found;
  for (const auto & item : items) {
    found += (found.empty() ? "" : ",") + tell(item);
  }
  return "[" + found + "]";
}

std::string number(double x)
{
  std::ostringstream out;
  out << std::setprecision(17) << x;
  return out.str();
}

std::string line(const offnominal_msgs::msg::Diagnosis & d)
{
  const auto channel = [](const offnominal_msgs::msg::Deviation & off) {
      return "{\"name\":" + quoted(off.name) + ",\"size\":" + number(off.size) + ",\"bias\":" + number(off.bias) +
             "}";
    };
  const auto candidate = [](const offnominal_msgs::msg::Candidate & fault) {
      return "{\"anomaly\":" + quoted(fault.anomaly) + ",\"direction\":" + std::to_string(fault.direction) +
             ",\"neutral\":" + number(fault.neutral) + ",\"magnitude\":" + number(fault.magnitude) +
             ",\"probability\":" + number(fault.probability) + "}";
    };
  return "{\"onset\":" + std::to_string(d.onset) + ",\"family\":" + std::to_string(d.family) +
         ",\"probabilities\":" + list(d.probabilities, number) + ",\"channels\":" + list(d.channels, channel) +
         ",\"names_faults\":" + (d.names_faults ? "true" : "false") + ",\"candidates\":" +
         list(d.candidates, candidate) + "}";
}

std::string line(const Verdict & v)
{
  const auto nanos = static_cast<std::int64_t>(v.header.stamp.sec) * 1'000'000'000 + v.header.stamp.nanosec;
  const auto share = [](const offnominal_msgs::msg::Share & part) {
      return "{\"name\":" + quoted(part.name) + ",\"share\":" + number(part.share) + "}";
    };
  std::ostringstream out;
  out << std::setprecision(17) << "{\"time_nanos\":" << nanos << ",\"episode\":" << v.episode << ",\"step\":" <<
    v.step << ",\"score\":" << v.score << ",\"statistic\":" << v.statistic << ",\"threshold\":" << v.threshold <<
    ",\"state\":" << int{v.state} << ",\"event\":" << int{v.event} << ",\"missing\":" << v.missing << ",\"stale\":" <<
    v.stale << ",\"confidence\":" << v.confidence << ",\"sensor_event\":" << int{v.sensor_event} <<
    ",\"lost_sensors\":" << list(v.lost_sensors, quoted) << ",\"dropped\":" << v.dropped << ",\"acknowledged\":" <<
    (v.acknowledged ? "true" : "false") << ",\"shares\":" << list(v.shares, share) << ",\"diagnosis\":" <<
    list(v.diagnosis, [](const auto & d) {return line(d);}) << "}";
  return out.str();
}

std::string line(const DiagnosticArray & array)
{
  const auto & status = array.status.at(0);
  const auto pair = [](const auto & p) {return "[" + quoted(p.key) + "," + quoted(p.value) + "]";};
  return "{\"level\":" + std::to_string(status.level) + ",\"name\":" + quoted(status.name) + ",\"message\":" +
         quoted(status.message) + ",\"values\":" + list(status.values, pair) + "}";
}

/// Writes what was published since, verdicts first.
void tell()
{
  for (const auto & [topic, verdict] : rclcpp::published<Verdict>()) {
    std::cout << "{" << quoted(topic) << ":" << line(verdict) << "}\n";
  }
  for (const auto & [topic, array] : rclcpp::published<DiagnosticArray>()) {
    std::cout << "{" << quoted(topic) << ":" << line(array) << "}\n";
  }
  rclcpp::published<Verdict>().clear();
  rclcpp::published<DiagnosticArray>().clear();
}

/// A service that is called at a time.
struct Call
{
  std::int64_t time;
  std::string service;
};

void call(const Call & what)
{
  rclcpp::world().pass(what.time);
  tell();
  const auto [success, message] = rclcpp::world().services.at(what.service)();
  std::cout << "{" << quoted(what.service) << ":{\"success\":" << (success ? "true" : "false") << ",\"message\":" <<
    quoted(message) << "}}\n";
  tell();
}

void play(const Bag & bag, std::vector<Call> calls)
{
  auto & world = rclcpp::world();
  for (const auto & message : bag.messages) {
    while (!calls.empty() && calls.front().time <= message.time) {
      call(calls.front());
      calls.erase(calls.begin());
    }
    world.pass(message.time);
    const auto serialized = std::make_shared<rclcpp::SerializedMessage>();
    serialized->bytes = message.bytes;
    for (const auto & subscriber : world.subscribers[message.topic]) {
      subscriber(serialized);
    }
    tell();
  }
}

}  // namespace

int main(int argc, char ** argv)
try {
  if (argc < 4 || argc % 2 != 0) {
    throw std::runtime_error("replay FILE.monitor MAPPING.toml|- BAG.mcap [SECONDS SERVICE]...");
  }
  const Bag bag(argv[3]);
  auto & world = rclcpp::world();
  // The node starts a second before the first message, and knows the topics by then.
  const std::int64_t start = bag.messages.at(0).time;
  world.now = start - 1'000'000'000;
  for (const auto & [topic, type] : bag.types) {
    world.topics[topic] = {type};
  }
  world.texts = {{"monitor_file", argv[1]}, {"mapping_file", std::string(argv[2]) == "-" ? "" : argv[2]}};
  offnominal_monitor_ros::MonitorNode node;
  std::vector<Call> calls;
  for (int i = 4; i < argc; i += 2) {
    calls.push_back({start + static_cast<std::int64_t>(std::stod(argv[i]) * 1e9), argv[i + 1]});
  }
  play(bag, calls);
  for (const auto & error : world.errors) {
    std::cout << "{\"error\":" << quoted(error) << "}\n";
  }
  return 0;
} catch (const std::exception & why) {
  std::fprintf(stderr, "%s\n", why.what());
  return 2;
}
