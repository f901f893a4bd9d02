#include "offnominal_monitor_ros/status.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

namespace offnominal_monitor_ros
{

namespace
{

const char * const STATES[] = {"disarmed", "armed", "raised"};
const char * const FAMILIES[] = {"observation", "action", "dynamics", "of an unknown kind"};
const char * const DIRECTIONS[] = {"up", "down"};

/// A monitor whose last step is older has fallen silent: the longer of a second and ten steps. Without a rate nobody knows
/// when the next one is due.
double longest_silence_secs(const Watch & watch)
{
  const double step_secs = watch.step_secs();
  return step_secs > 0 ? std::max(1.0, 10 * step_secs) : std::numeric_limits<double>::infinity();
}

std::string text(double number)
{
  std::ostringstream out;
  out << number;
  return out.str();
}

std::string joined(const std::vector<std::string> & words)
{
  std::string found;
  for (const auto & word : words) {
    found += (found.empty() ? "" : ", ") + word;
  }
  return found;
}

}  // namespace

void History::tell(const Step & step)
{
  last_ = step;
  if (step.verdict.event == OFFNOMINAL_EVENT_RAISED) {
    raised_ = step;
  } else if (step.verdict.state != OFFNOMINAL_STATE_RAISED) {
    raised_.reset();
  } else if (raised_ && step.diagnosis) {
    // Later ones know more.
    raised_->diagnosis = step.diagnosis;
  }
}

void History::complain(const std::string & why)
{
  n_complaints_++;
  complaint_ = why;
}

void History::acknowledge()
{
  raised_.reset();
  if (last_) {
    last_->verdict.state = OFFNOMINAL_STATE_ARMED;
  }
}

void History::reset()
{
  last_.reset();
  raised_.reset();
}

Status History::status(const Watch & watch, std::int64_t now)
{
  const auto [level, message] = judged(watch, now);
  Status found{level, message, {}};
  add_step(found);
  for (std::size_t i = 0; i < watch.topics().size(); i++) {
    found.values.emplace_back("age of " + watch.topics()[i] + " [s]", text(watch.age_secs(i, now)));
  }
  found.values.emplace_back("errors", std::to_string(n_complaints_));
  complaint_.clear();
  return found;
}

/// The worst comes first.
std::pair<Level, std::string> History::judged(const Watch & watch, std::int64_t now) const
{
  if (raised_) {
    return {Level::ERROR, alarm(watch)};
  }
  if (!complaint_.empty()) {
    return {Level::ERROR, complaint_};
  }
  if (!last_) {
    const auto unseen = watch.unseen();
    return {Level::STALE, unseen.empty() ? "no step yet" : "no number yet of " + joined(unseen)};
  }
  const double silence_secs = static_cast<double>(now - last_->tick.time_nanos) * 1e-9;
  if (silence_secs > longest_silence_secs(watch)) {
    return {Level::STALE, "no step since " + text(silence_secs) + " s"};
  }
  if (!last_->lost_sensors.empty()) {
    return {Level::WARN, "lost sensors: " + joined(last_->lost_sensors)};
  }
  if (last_->verdict.confidence <= 0) {
    return {Level::WARN, "the score says nothing, as numbers are missing"};
  }
  return {Level::OK, last_->verdict.state == OFFNOMINAL_STATE_DISARMED ? "the episode is young" : "nominal"};
}

std::string History::alarm(const Watch & watch) const
{
  std::string found = "alarm since step " + std::to_string(raised_->verdict.step);
  if (!raised_->diagnosis) {
    return found;
  }
  std::vector<std::string> names;
  for (const auto & off : raised_->diagnosis->channels) {
    names.push_back(watch.channels()[off.channel].name);
  }
  found += std::string(", seems to be ") + FAMILIES[raised_->diagnosis->family] + ": " + joined(names);
  const auto & candidates = raised_->diagnosis->candidates;
  if (candidates && !candidates->empty()) {
    const auto & fault = candidates->front();
    found += ", perhaps " + fault.anomaly + " " + DIRECTIONS[fault.direction];
  }
  return found;
}

void History::add_step(Status & status) const
{
  if (!last_) {
    return;
  }
  const auto & verdict = last_->verdict;
  const std::pair<const char *, std::string> values[] = {
    {"episode", std::to_string(last_->tick.episode)},
    {"step", std::to_string(verdict.step)},
    {"score", text(verdict.score)},
    {"statistic", text(verdict.statistic)},
    {"threshold", text(verdict.threshold)},
    {"state", STATES[verdict.state]},
    {"missing", std::to_string(verdict.missing)},
    {"stale [steps]", std::to_string(verdict.stale)},
    {"confidence", text(verdict.confidence)},
    {"lost sensors", joined(last_->lost_sensors)},
    {"dropped", std::to_string(last_->tick.dropped)},
  };
  status.values.insert(status.values.end(), std::begin(values), std::end(values));
}

}  // namespace offnominal_monitor_ros
