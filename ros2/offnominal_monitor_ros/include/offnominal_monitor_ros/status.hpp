// What `/diagnostics` says of a monitor: a level, a sentence and named values. It knows nothing of ROS.

#ifndef OFFNOMINAL_MONITOR_ROS__STATUS_HPP_
#define OFFNOMINAL_MONITOR_ROS__STATUS_HPP_

#include "offnominal_monitor_ros/watch.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace offnominal_monitor_ros
{

/// The levels of `diagnostic_msgs/DiagnosticStatus`.
enum class Level : unsigned char { OK = 0, WARN = 1, ERROR = 2, STALE = 3 };

struct Status
{
  Level level;
  std::string message;
  std::vector<std::pair<std::string, std::string>> values;
};

/// What has happened to a monitor so far, as its status needs it.
class History
{
public:
  /// A step is over.
  void tell(const Step & step);

  /// Something could not be done, such as to read a message.
  void complain(const std::string & why);

  /// Somebody has seen the alarm.
  void acknowledge();

  /// An episode begins.
  void reset();

  /// The status at a time; complaints are forgotten once they are told.
  Status status(const Watch & watch, std::int64_t now);

private:
  std::pair<Level, std::string> judged(const Watch & watch, std::int64_t now) const;
  std::string alarm(const Watch & watch) const;
  void add_step(Status & status) const;

  std::optional<Step> last_;
  /// The step in which the alarm was raised that is on.
  std::optional<Step> raised_;
  std::uint64_t n_complaints_ = 0;
  std::string complaint_;
};

}  // namespace offnominal_monitor_ros

#endif  // OFFNOMINAL_MONITOR_ROS__STATUS_HPP_
