// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_STATUS_HPP_
#define STUBS__DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_STATUS_HPP_

#include <diagnostic_msgs/msg/key_value.hpp>

#include <string>
#include <vector>

namespace diagnostic_msgs::msg
{

struct DiagnosticStatus
{
  static constexpr unsigned char OK = 0, WARN = 1, ERROR = 2, STALE = 3;
  unsigned char level = 0;
  std::string name, message, hardware_id;
  std::vector<KeyValue> values;
};

}  // namespace diagnostic_msgs::msg

#endif  // STUBS__DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_STATUS_HPP_
