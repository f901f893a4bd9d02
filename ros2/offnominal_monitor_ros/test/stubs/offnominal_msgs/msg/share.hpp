// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__OFFNOMINAL_MSGS__MSG__SHARE_HPP_
#define STUBS__OFFNOMINAL_MSGS__MSG__SHARE_HPP_

#include <string>

namespace offnominal_msgs::msg
{

struct Share { std::string name; double share = 0; };

}  // namespace offnominal_msgs::msg

#endif  // STUBS__OFFNOMINAL_MSGS__MSG__SHARE_HPP_
