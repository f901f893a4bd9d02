// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_ARRAY_HPP_
#define STUBS__DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_ARRAY_HPP_

#include <diagnostic_msgs/msg/diagnostic_status.hpp>
#include <std_msgs/msg/header.hpp>

#include <vector>

namespace diagnostic_msgs::msg
{

struct DiagnosticArray { std_msgs::msg::Header header; std::vector<DiagnosticStatus> status; };

}  // namespace diagnostic_msgs::msg

#endif  // STUBS__DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_ARRAY_HPP_
