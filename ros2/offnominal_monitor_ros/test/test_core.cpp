// The parts of the core that need no monitor.

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "offnominal_monitor_ros/definitions.hpp"

using offnominal_monitor_ros::definition;

namespace
{

const std::map<std::string, std::string> FILES = {
  {"a/Top", "b/Middle[<=3] middle # a comment\nuint8 ONE=1\nstring<=9 text\nBottom bottom\n"},
  {"b/Middle", "a/Bottom bottom\nfloat64[9] numbers\n"},
  {"a/Bottom", "float64 x 0.5\n"},
};

std::string lookup(const std::string & package, const std::string & type)
{
  return FILES.at(package + "/" + type);
}

}  // namespace

TEST(Definition, has_each_type_once_after_a_line)
{
  const std::string line(80, '=');
  EXPECT_EQ(
    definition("a/msg/Top", lookup),
    FILES.at("a/Top") + "\n" + line + "\nMSG: b/Middle\n" + FILES.at("b/Middle") + "\n" + line +
    "\nMSG: a/Bottom\n" + FILES.at("a/Bottom"));
}

TEST(Definition, is_of_messages_only)
{
  EXPECT_THROW(definition("a/srv/Top", lookup), std::invalid_argument);
  EXPECT_THROW(definition("Top", lookup), std::invalid_argument);
  EXPECT_THROW(definition("a/msg/None", lookup), std::out_of_range);
}
