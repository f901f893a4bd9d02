// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__OFFNOMINAL_MSGS__MSG__CANDIDATE_HPP_
#define STUBS__OFFNOMINAL_MSGS__MSG__CANDIDATE_HPP_

#include <cstdint>
#include <string>

namespace offnominal_msgs::msg
{

struct Candidate
{
  static constexpr std::uint8_t UP = 0, DOWN = 1;
  std::string anomaly;
  std::uint8_t direction = 0;
  double neutral = 0, magnitude = 0, probability = 0;
};

}  // namespace offnominal_msgs::msg

#endif  // STUBS__OFFNOMINAL_MSGS__MSG__CANDIDATE_HPP_
