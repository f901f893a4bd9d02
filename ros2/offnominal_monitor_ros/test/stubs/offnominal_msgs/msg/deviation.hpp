// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__OFFNOMINAL_MSGS__MSG__DEVIATION_HPP_
#define STUBS__OFFNOMINAL_MSGS__MSG__DEVIATION_HPP_

#include <string>

namespace offnominal_msgs::msg
{

struct Deviation { std::string name; double size = 0, bias = 0; };

}  // namespace offnominal_msgs::msg

#endif  // STUBS__OFFNOMINAL_MSGS__MSG__DEVIATION_HPP_
