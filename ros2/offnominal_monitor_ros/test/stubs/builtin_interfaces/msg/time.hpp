// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__BUILTIN_INTERFACES__MSG__TIME_HPP_
#define STUBS__BUILTIN_INTERFACES__MSG__TIME_HPP_

#include <cstdint>

namespace builtin_interfaces::msg
{

struct Time { std::int32_t sec = 0; std::uint32_t nanosec = 0; };

}  // namespace builtin_interfaces::msg

#endif  // STUBS__BUILTIN_INTERFACES__MSG__TIME_HPP_
