// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__DIAGNOSTIC_MSGS__MSG__KEY_VALUE_HPP_
#define STUBS__DIAGNOSTIC_MSGS__MSG__KEY_VALUE_HPP_

#include <string>

namespace diagnostic_msgs::msg
{

struct KeyValue { std::string key; std::string value; };

}  // namespace diagnostic_msgs::msg

#endif  // STUBS__DIAGNOSTIC_MSGS__MSG__KEY_VALUE_HPP_
