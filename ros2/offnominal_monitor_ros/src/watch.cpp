#include "offnominal_monitor_ros/watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace offnominal_monitor_ros
{

namespace
{

/// A clock that falls by less is one that was corrected; by more, it begins anew, as with a bag that is played in a loop.
constexpr std::int64_t CORRECTION_NANOS = 1'000'000'000;
/// A clock that jumps ahead by more steps begins anew: nothing is judged for the time in between.
constexpr double LONGEST_JUMP = 1000;

offnominal::stream opened(const offnominal::monitor & monitor, const std::string & mapping)
{
  return mapping.empty() ? offnominal::stream(monitor) : offnominal::stream(monitor, mapping);
}

bool is_of(const std::string & column, const std::string & topic)
{
  return column.compare(0, topic.size() + 1, topic + ":") == 0;
}

}  // namespace

Watch::Watch(
  const std::string & monitor_file, const std::string & mapping, const std::string & group)
: monitor_(monitor_file), stream_(opened(monitor_, mapping)), topics_(stream_.topics()),
  columns_(stream_.columns()), channels_(monitor_.observation())
{
  if (!group.empty()) {
    monitor_.reset(group);
  }
}

double Watch::step_secs() const
{
  const double rate = stream_.rate_hz();
  return rate > 0 ? 1 / rate : 0;
}

void Watch::define(std::size_t topic, const std::string & type, const std::string & definition)
{
  stream_.define(topic, type, definition);
}

void Watch::message(
  std::size_t topic, std::int64_t now, const std::uint8_t * bytes, std::size_t n_bytes)
{
  stream_.message(topic, turn(now), bytes, n_bytes);
}

void Watch::advance(std::int64_t now)
{
  // Before the first message there is no step that could be over.
  if (latest_) {
    stream_.advance(turn(now));
  }
}

std::int64_t Watch::turn(std::int64_t now)
{
  const std::int64_t since = latest_ ? now - *latest_ : 0;
  const bool jumps_ahead = static_cast<double>(since) * 1e-9 * stream_.rate_hz() > LONGEST_JUMP;
  if (since < -CORRECTION_NANOS || jumps_ahead) {
    reset();
  }
  latest_ = latest_ ? std::max(*latest_, now) : now;
  return *latest_;
}

std::optional<Step> Watch::next()
{
  const auto found = stream_.next(monitor_);
  if (!found) {
    return std::nullopt;
  }
  Step step{found->tick, found->verdict, {}, std::nullopt, std::nullopt, is_acknowledged_};
  is_acknowledged_ = false;
  if (step.verdict.lost > 0) {
    step.lost_sensors = lost_sensors();
  }
  if (step.verdict.event == OFFNOMINAL_EVENT_RAISED) {
    step.shares = monitor_.shares();
  }
  if (monitor_.is_diagnosis_due()) {
    step.diagnosis = monitor_.diagnose();
  }
  return step;
}

bool Watch::acknowledge()
{
  const bool was_on = monitor_.acknowledge() == OFFNOMINAL_EVENT_CLEARED;
  is_acknowledged_ = is_acknowledged_ || was_on;
  return was_on;
}

void Watch::reset()
{
  stream_.end_episode();
  latest_.reset();
  is_acknowledged_ = false;
}

std::vector<std::string> Watch::unseen() const
{
  std::vector<std::string> found;
  for (std::size_t i = 0; i < columns_.size(); i++) {
    if (std::isinf(stream_.age_secs(i, latest_.value_or(0)))) {
      found.push_back(columns_[i]);
    }
  }
  return found;
}

double Watch::age_secs(std::size_t topic, std::int64_t now) const
{
  double youngest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < columns_.size(); i++) {
    if (is_of(columns_[i], topics_[topic])) {
      youngest = std::min(youngest, stream_.age_secs(i, now));
    }
  }
  return youngest;
}

std::vector<std::string> Watch::lost_sensors() const
{
  std::vector<std::string> found;
  for (std::size_t i = 0; i < channels_.size(); i++) {
    if (monitor_.is_lost(i)) {
      found.push_back(channels_[i].name);
    }
  }
  return found;
}

}  // namespace offnominal_monitor_ros
