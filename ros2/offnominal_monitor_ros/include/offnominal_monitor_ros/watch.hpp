// The core of the node, which knows nothing of ROS: messages go in, judged steps come out.

#ifndef OFFNOMINAL_MONITOR_ROS__WATCH_HPP_
#define OFFNOMINAL_MONITOR_ROS__WATCH_HPP_

#include <offnominal_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace offnominal_monitor_ros
{

/// A step with everything that is told of it.
struct Step
{
  offnominal_tick tick;
  offnominal_verdict verdict;
  std::vector<std::string> lost_sensors;
  /// The part of the score of each number of the observation; only where an alarm is raised, and the detector tells.
  std::optional<std::vector<double>> shares;
  /// Only where an alarm is raised and, if the monitor names faults, 5 and 20 steps later.
  std::optional<offnominal::diagnosis> diagnosis;
  /// Somebody has acknowledged the alarm before this step.
  bool is_acknowledged;
};

/// A monitor with the messages of its topics. Errors of the library are exceptions of the type `offnominal::error`.
class Watch
{
public:
  /// Opens a monitor's file. `mapping` is the text of a mapping; an empty one stands for that of the monitor's file.
  /// All episodes are of `group`, unless it is empty.
  Watch(
    const std::string & monitor_file, const std::string & mapping, const std::string & group = "");

  /// The topics of the mapping; a topic is known by its place here.
  const std::vector<std::string> & topics() const {return topics_;}

  /// What the numbers of an observation are.
  const std::vector<offnominal::channel> & channels() const {return channels_;}

  /// Seconds per step; 0 if each message of the only topic is a step.
  double step_secs() const;

  /// Says of which type the messages of a topic are.
  void define(std::size_t topic, const std::string & type, const std::string & definition);

  /// A message, and when it came. One that is refused is left out.
  void message(std::size_t topic, std::int64_t now, const std::uint8_t * bytes, std::size_t n_bytes);

  /// Time has come so far.
  void advance(std::int64_t now);

  /// The next step that is over.
  std::optional<Step> next();

  /// Somebody has seen the alarm; whether one was on.
  bool acknowledge();

  /// The next message begins an episode.
  void reset();

  /// The columns of which no number has come.
  std::vector<std::string> unseen() const;

  /// Seconds since the latest number of a topic; infinite if none has come.
  double age_secs(std::size_t topic, std::int64_t now) const;

private:
  /// Keeps the clock of the steps in order, where that of the messages is not; the time that holds.
  std::int64_t turn(std::int64_t now);
  std::vector<std::string> lost_sensors() const;

  offnominal::monitor monitor_;
  offnominal::stream stream_;
  std::vector<std::string> topics_;
  std::vector<std::string> columns_;
  std::vector<offnominal::channel> channels_;
  std::optional<std::int64_t> latest_;
  bool is_acknowledged_ = false;
};

}  // namespace offnominal_monitor_ros

#endif  // OFFNOMINAL_MONITOR_ROS__WATCH_HPP_
