#include "offnominal_monitor_ros/node.hpp"

#include <ament_index_cpp/get_package_share_directory.hpp>

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "offnominal_monitor_ros/definitions.hpp"
#include "offnominal_monitor_ros/messages.hpp"

namespace offnominal_monitor_ros
{

namespace
{

using namespace std::chrono_literals;

/// How often types of topics are looked for that nobody has published yet.
constexpr auto DISCOVERY_PERIOD = 500ms;
/// Messages and verdicts that wait for whoever is busy.
constexpr std::size_t QUEUE = 100;

std::string content(const std::string & path)
{
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Types are installed with the package that defines them.
std::string installed(const std::string & package, const std::string & type)
{
  return content(ament_index_cpp::get_package_share_directory(package) + "/msg/" + type + ".msg");
}

Watch opened(rclcpp::Node & node)
{
  const auto monitor = node.declare_parameter<std::string>("monitor_file", "");
  const auto mapping = node.declare_parameter<std::string>("mapping_file", "");
  const auto group = node.declare_parameter<std::string>("group", "");
  if (monitor.empty()) {
    throw std::invalid_argument(
            "monitor_file: expected the path of a file that `offnominal fit` wrote, found none");
  }
  return Watch(monitor, mapping.empty() ? "" : content(mapping), group);
}

}  // namespace

MonitorNode::MonitorNode(const rclcpp::NodeOptions & options)
: rclcpp::Node("offnominal_monitor", options), watch_(opened(*this)),
  is_settled_(watch_.topics().size(), false)
{
  hardware_id_ = declare_parameter<std::string>("hardware_id", "");
  const double period = declare_parameter<double>("diagnostic_period", 1.0);
  if (!(period > 0)) {
    throw std::invalid_argument(
            "diagnostic_period: expected seconds above zero, found " + std::to_string(period));
  }
  verdicts_ = create_publisher<Verdict>("~/verdict", rclcpp::QoS(rclcpp::KeepLast(QUEUE)));
  diagnostics_ = create_publisher<Array>("/diagnostics", rclcpp::QoS(rclcpp::KeepLast(10)));
  make_services();
  make_timers(period);
  discover();
}

void MonitorNode::make_services()
{
  using Request = std::shared_ptr<Trigger::Request>;
  using Response = std::shared_ptr<Trigger::Response>;
  acknowledge_ = create_service<Trigger>(
    "~/acknowledge", [this](const Request, Response response) {
      response->success = false;
      guarded([&] {response->success = watch_.acknowledge();});
      response->message = response->success ? "the alarm is taken back" : "no alarm is on";
      if (response->success) {
        history_.acknowledge();
        publish_status();
      }
    });
  reset_ = create_service<Trigger>(
    "~/reset", [this](const Request, Response response) {
      response->success = false;
      guarded([&] {watch_.reset(); response->success = true;});
      response->message = response->success ? "the next message begins an episode" : "it failed";
      history_.reset();
      publish_status();
    });
}

void MonitorNode::make_timers(double diagnostic_period)
{
  timers_.push_back(create_wall_timer(DISCOVERY_PERIOD, [this] {discover();}));
  timers_.push_back(
    create_wall_timer(std::chrono::duration<double>(diagnostic_period), [this] {publish_status();}));
  // Messages bring the time along; this one notices that none comes.
  if (watch_.step_secs() > 0) {
    const auto period = rclcpp::Duration::from_seconds(watch_.step_secs());
    timers_.push_back(rclcpp::create_timer(this, get_clock(), period, [this] {on_time();}));
  }
}

void MonitorNode::discover()
{
  const auto known = get_topic_names_and_types();
  for (std::size_t topic = 0; topic < is_settled_.size(); topic++) {
    const auto name = get_node_topics_interface()->resolve_topic_name(watch_.topics()[topic]);
    const auto found = known.find(name);
    if (!is_settled_[topic] && found != known.end() && !found->second.empty()) {
      is_settled_[topic] = true;
      guarded([&] {subscribe(topic, found->second.front());});
    }
  }
}

void MonitorNode::subscribe(std::size_t topic, const std::string & type)
{
  const auto & name = watch_.topics()[topic];
  watch_.define(topic, type, definition(type, installed));
  // As sensors publish: it fits publishers that repeat what was lost, and those that do not.
  const auto quality = rclcpp::SensorDataQoS(rclcpp::KeepLast(QUEUE));
  subscriptions_.push_back(
    create_generic_subscription(
      name, type, quality, [this, topic](std::shared_ptr<const rclcpp::SerializedMessage> message) {
        on_message(topic, *message);
      }));
  RCLCPP_INFO(get_logger(), "watches %s (%s)", name.c_str(), type.c_str());
}

void MonitorNode::on_message(std::size_t topic, const rclcpp::SerializedMessage & message)
{
  const auto & bytes = message.get_rcl_serialized_message();
  guarded([&] {watch_.message(topic, nanos(), bytes.buffer, bytes.buffer_length);});
}

void MonitorNode::on_time()
{
  guarded([this] {watch_.advance(nanos());});
}

void MonitorNode::guarded(const std::function<void()> & work)
{
  // What was over before an error is published all the same.
  const std::function<void()> parts[] = {work, [this] {publish_steps();}};
  for (const auto & part : parts) {
    try {
      part();
    } catch (const std::exception & why) {
      RCLCPP_ERROR_THROTTLE(get_logger(), *get_clock(), 1000, "%s", why.what());
      history_.complain(why.what());
    }
  }
}

void MonitorNode::publish_steps()
{
  bool has_changed = false;
  while (const auto step = watch_.next()) {
    auto message = verdict_message(*step, watch_.channels());
    message.header.stamp = rclcpp::Time(step->tick.time_nanos, get_clock()->get_clock_type());
    verdicts_->publish(message);
    history_.tell(*step);
    has_changed = has_changed || step->verdict.event != OFFNOMINAL_EVENT_NONE ||
      step->verdict.sensor_event != OFFNOMINAL_SENSOR_EVENT_NONE;
  }
  if (has_changed) {
    publish_status();
  }
}

void MonitorNode::publish_status()
{
  const auto status = history_.status(watch_, nanos());
  Array array;
  array.header.stamp = now();
  // Names of diagnostics have no slash at their beginning.
  const auto name = std::string(get_fully_qualified_name()).substr(1);
  array.status.push_back(status_message(status, name, hardware_id_));
  diagnostics_->publish(array);
}

}  // namespace offnominal_monitor_ros
