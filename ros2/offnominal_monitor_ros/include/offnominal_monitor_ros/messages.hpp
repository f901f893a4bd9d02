// Steps and statuses as messages of ROS 2.

#ifndef OFFNOMINAL_MONITOR_ROS__MESSAGES_HPP_
#define OFFNOMINAL_MONITOR_ROS__MESSAGES_HPP_

#include "offnominal_monitor_ros/status.hpp"
#include "offnominal_monitor_ros/watch.hpp"

#include <diagnostic_msgs/msg/diagnostic_status.hpp>
#include <offnominal_msgs/msg/verdict.hpp>

#include <string>
#include <vector>

namespace offnominal_monitor_ros
{

/// A step without its time stamp; `channels` are those of the observation.
offnominal_msgs::msg::Verdict verdict_message(
  const Step & step, const std::vector<offnominal::channel> & channels);

/// A status of something with a name.
diagnostic_msgs::msg::DiagnosticStatus status_message(
  const Status & status, const std::string & name, const std::string & hardware_id);

}  // namespace offnominal_monitor_ros

#endif  // OFFNOMINAL_MONITOR_ROS__MESSAGES_HPP_
