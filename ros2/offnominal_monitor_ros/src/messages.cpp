#include "offnominal_monitor_ros/messages.hpp"

#include <algorithm>
#include <cmath>

#include <diagnostic_msgs/msg/key_value.hpp>
#include <offnominal_msgs/msg/candidate.hpp>
#include <offnominal_msgs/msg/deviation.hpp>
#include <offnominal_msgs/msg/diagnosis.hpp>
#include <offnominal_msgs/msg/share.hpp>

namespace offnominal_monitor_ros
{

using offnominal_msgs::msg::Verdict;

// The numbers of the library are those of the messages.
static_assert(Verdict::DISARMED == OFFNOMINAL_STATE_DISARMED);
static_assert(Verdict::ARMED == OFFNOMINAL_STATE_ARMED);
static_assert(Verdict::RAISED == OFFNOMINAL_STATE_RAISED);
static_assert(Verdict::ALARM_RAISED == OFFNOMINAL_EVENT_RAISED);
static_assert(Verdict::ALARM_CLEARED == OFFNOMINAL_EVENT_CLEARED);
static_assert(Verdict::SENSOR_LOST == OFFNOMINAL_SENSOR_EVENT_LOST);
static_assert(Verdict::SENSOR_RETURNED == OFFNOMINAL_SENSOR_EVENT_RETURNED);
static_assert(offnominal_msgs::msg::Candidate::UP == OFFNOMINAL_DIRECTION_UP);
static_assert(offnominal_msgs::msg::Candidate::DOWN == OFFNOMINAL_DIRECTION_DOWN);

namespace
{

offnominal_msgs::msg::Candidate candidate_message(const offnominal::candidate & fault)
{
  offnominal_msgs::msg::Candidate message;
  message.anomaly = fault.anomaly;
  message.direction = static_cast<std::uint8_t>(fault.direction);
  message.neutral = fault.neutral;
  message.magnitude = fault.magnitude;
  message.probability = fault.probability;
  return message;
}

/// Parts with their names, the largest first; those of nothing are left out.
std::vector<offnominal_msgs::msg::Share> share_messages(
  const std::vector<double> & shares, const std::vector<offnominal::channel> & channels)
{
  std::vector<offnominal_msgs::msg::Share> messages;
  for (std::size_t i = 0; i < shares.size(); i++) {
    if (shares[i] != 0) {
      offnominal_msgs::msg::Share message;
      message.name = channels[i].name;
      message.share = shares[i];
      messages.push_back(message);
    }
  }
  const auto is_larger = [](const auto & a, const auto & b) {return std::abs(a.share) > std::abs(b.share);};
  std::stable_sort(messages.begin(), messages.end(), is_larger);
  return messages;
}

offnominal_msgs::msg::Diagnosis diagnosis_message(
  const offnominal::diagnosis & found, const std::vector<offnominal::channel> & channels)
{
  offnominal_msgs::msg::Diagnosis message;
  message.onset = found.onset;
  message.family = static_cast<std::uint8_t>(found.family);
  std::copy(
    std::begin(found.probabilities), std::end(found.probabilities), message.probabilities.begin());
  for (const auto & off : found.channels) {
    offnominal_msgs::msg::Deviation deviation;
    deviation.name = channels[off.channel].name;
    deviation.size = off.size;
    deviation.bias = off.bias;
    message.channels.push_back(deviation);
  }
  message.names_faults = found.candidates.has_value();
  for (const auto & fault : found.candidates.value_or(std::vector<offnominal::candidate>{})) {
    message.candidates.push_back(candidate_message(fault));
  }
  return message;
}

}  // namespace

Verdict verdict_message(const Step & step, const std::vector<offnominal::channel> & channels)
{
  Verdict message;
  message.episode = step.tick.episode;
  message.step = step.verdict.step;
  message.score = step.verdict.score;
  message.statistic = step.verdict.statistic;
  message.threshold = step.verdict.threshold;
  message.state = static_cast<std::uint8_t>(step.verdict.state);
  message.event = static_cast<std::uint8_t>(step.verdict.event);
  message.missing = step.verdict.missing;
  message.stale = step.verdict.stale;
  message.confidence = step.verdict.confidence;
  message.sensor_event = static_cast<std::uint8_t>(step.verdict.sensor_event);
  message.lost_sensors = step.lost_sensors;
  message.acknowledged = step.is_acknowledged;
  message.dropped = step.tick.dropped;
  if (step.shares) {
    message.shares = share_messages(*step.shares, channels);
  }
  if (step.diagnosis) {
    message.diagnosis.push_back(diagnosis_message(*step.diagnosis, channels));
  }
  return message;
}

diagnostic_msgs::msg::DiagnosticStatus status_message(
  const Status & status, const std::string & name, const std::string & hardware_id)
{
  diagnostic_msgs::msg::DiagnosticStatus message;
  message.level = static_cast<unsigned char>(status.level);
  message.name = name;
  message.message = status.message;
  message.hardware_id = hardware_id;
  for (const auto & [key, value] : status.values) {
    diagnostic_msgs::msg::KeyValue pair;
    pair.key = key;
    pair.value = value;
    message.values.push_back(pair);
  }
  return message;
}

}  // namespace offnominal_monitor_ros
