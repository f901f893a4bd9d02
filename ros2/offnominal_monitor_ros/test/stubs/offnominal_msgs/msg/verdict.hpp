// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__OFFNOMINAL_MSGS__MSG__VERDICT_HPP_
#define STUBS__OFFNOMINAL_MSGS__MSG__VERDICT_HPP_

#include <offnominal_msgs/msg/diagnosis.hpp>
#include <offnominal_msgs/msg/share.hpp>
#include <std_msgs/msg/header.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace offnominal_msgs::msg
{

struct Verdict
{
  static constexpr std::uint8_t DISARMED = 0, ARMED = 1, RAISED = 2;
  static constexpr std::uint8_t NOTHING = 0, ALARM_RAISED = 1, ALARM_CLEARED = 2, SENSOR_LOST = 1,
    SENSOR_RETURNED = 2;
  std_msgs::msg::Header header;
  std::uint64_t episode = 0, step = 0;
  double score = 0, statistic = 0, threshold = 0;
  std::uint8_t state = 0, event = 0;
  std::uint32_t missing = 0, stale = 0;
  double confidence = 0;
  std::uint8_t sensor_event = 0;
  std::vector<std::string> lost_sensors;
  bool acknowledged = false;
  std::uint64_t dropped = 0;
  std::vector<Share> shares;
  std::vector<Diagnosis> diagnosis;
};

}  // namespace offnominal_msgs::msg

#endif  // STUBS__OFFNOMINAL_MSGS__MSG__VERDICT_HPP_
