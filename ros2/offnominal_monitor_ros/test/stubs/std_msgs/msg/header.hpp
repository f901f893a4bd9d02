// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__STD_MSGS__MSG__HEADER_HPP_
#define STUBS__STD_MSGS__MSG__HEADER_HPP_

#include <builtin_interfaces/msg/time.hpp>

#include <string>

namespace std_msgs::msg
{

struct Header { builtin_interfaces::msg::Time stamp; std::string frame_id; };

}  // namespace std_msgs::msg

#endif  // STUBS__STD_MSGS__MSG__HEADER_HPP_
