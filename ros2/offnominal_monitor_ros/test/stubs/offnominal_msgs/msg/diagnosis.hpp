// A stub of a message or service of ROS 2, with the same fields.

#ifndef STUBS__OFFNOMINAL_MSGS__MSG__DIAGNOSIS_HPP_
#define STUBS__OFFNOMINAL_MSGS__MSG__DIAGNOSIS_HPP_

#include <offnominal_msgs/msg/candidate.hpp>
#include <offnominal_msgs/msg/deviation.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace offnominal_msgs::msg
{

struct Diagnosis
{
  static constexpr std::uint8_t OBSERVATION = 0, ACTION = 1, DYNAMICS = 2;
  std::uint64_t onset = 0;
  std::uint8_t family = 0;
  std::array<double, 3> probabilities{};
  std::vector<Deviation> channels;
  bool names_faults = false;
  std::vector<Candidate> candidates;
};

}  // namespace offnominal_msgs::msg

#endif  // STUBS__OFFNOMINAL_MSGS__MSG__DIAGNOSIS_HPP_
