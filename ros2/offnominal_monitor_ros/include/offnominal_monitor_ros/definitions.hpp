// The definition of a type of messages with those of all types that it uses, as one text. It knows nothing of ROS.

#ifndef OFFNOMINAL_MONITOR_ROS__DEFINITIONS_HPP_
#define OFFNOMINAL_MONITOR_ROS__DEFINITIONS_HPP_

#include <functional>
#include <string>

namespace offnominal_monitor_ros
{

/// The text of `package/msg/Type.msg`; whatever it throws goes on.
using Lookup = std::function<std::string(const std::string & package, const std::string & type)>;

/// The definition of a type such as "sensor_msgs/msg/Imu". Throws `std::invalid_argument` if that is no name of a message.
std::string definition(const std::string & type, const Lookup & lookup);

}  // namespace offnominal_monitor_ros

#endif  // OFFNOMINAL_MONITOR_ROS__DEFINITIONS_HPP_
