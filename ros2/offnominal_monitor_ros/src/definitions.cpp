#include "offnominal_monitor_ros/definitions.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace offnominal_monitor_ros
{

namespace
{

using Name = std::pair<std::string, std::string>;

const std::set<std::string> NUMBERS_AND_TEXTS = {
  "bool", "byte", "char", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
  "float32", "float64", "string", "wstring"};

/// "sensor_msgs/msg/Imu" and, within definitions, "sensor_msgs/Imu".
Name name(const std::string & type)
{
  const auto first = type.find('/'), last = type.rfind('/');
  const bool is_message = first != std::string::npos &&
    (first == last || type.substr(first, last - first) == "/msg");
  if (!is_message) {
    throw std::invalid_argument(
            "expected the type of a message such as sensor_msgs/msg/Imu, found " + type);
  }
  return {type.substr(0, first), type.substr(last + 1)};
}

/// The type of a field without its bounds; empty where the line has none.
std::string type_of(const std::string & line)
{
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  words >> word;
  return word.substr(0, word.find_first_of("[<"));
}

/// The messages that a definition uses, in their order.
std::vector<Name> used(const std::string & text, const std::string & package)
{
  std::vector<Name> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); ) {
    const auto type = type_of(line);
    if (!type.empty() && NUMBERS_AND_TEXTS.count(type) == 0) {
      found.push_back(type.find('/') == std::string::npos ? Name(package, type) : name(type));
    }
  }
  return found;
}

}  // namespace

std::string definition(const std::string & type, const Lookup & lookup)
{
  std::vector<Name> names = {name(type)};
  std::string found;
  // The list grows while it is gone through.
  for (std::size_t i = 0; i < names.size(); i++) {
    const Name now = names[i];
    const auto text = lookup(now.first, now.second);
    if (i > 0) {
      found += "\n" + std::string(80, '=') + "\nMSG: " + now.first + "/" + now.second + "\n";
    }
    found += text;
    for (const auto & next : used(text, now.first)) {
      if (std::find(names.begin(), names.end(), next) == names.end()) {
        names.push_back(next);
      }
    }
  }
  return found;
}

}  // namespace offnominal_monitor_ros
