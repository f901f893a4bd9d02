// The node: what ROS 2 brings goes to the core, and what the core says goes to ROS 2.

#ifndef OFFNOMINAL_MONITOR_ROS__NODE_HPP_
#define OFFNOMINAL_MONITOR_ROS__NODE_HPP_

#include "offnominal_monitor_ros/status.hpp"
#include "offnominal_monitor_ros/watch.hpp"

#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <offnominal_msgs/msg/verdict.hpp>
#include <rclcpp/rclcpp.hpp>
#include <std_srvs/srv/trigger.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace offnominal_monitor_ros
{

/// All callbacks are in the node's own group, of which one runs at a time, with any executor.
class MonitorNode : public rclcpp::Node
{
public:
  /// Throws where a parameter is wrong or the monitor cannot be opened; the text says why.
  explicit MonitorNode(const rclcpp::NodeOptions & options = rclcpp::NodeOptions());

private:
  using Trigger = std_srvs::srv::Trigger;
  using Verdict = offnominal_msgs::msg::Verdict;
  using Array = diagnostic_msgs::msg::DiagnosticArray;

  void make_services();
  void make_timers(double diagnostic_period);

  /// Subscribes to the topics whose type has become known.
  void discover();
  void subscribe(std::size_t topic, const std::string & type);

  void on_message(std::size_t topic, const rclcpp::SerializedMessage & message);
  void on_time();

  /// Does something, and publishes the steps that are over; an error is told and not thrown.
  void guarded(const std::function<void()> & work);
  void publish_steps();
  void publish_status();

  std::int64_t nanos() {return now().nanoseconds();}

  Watch watch_;
  History history_;
  std::string hardware_id_;
  /// Whether each topic has its subscription, or will never have one.
  std::vector<bool> is_settled_;
  std::vector<rclcpp::GenericSubscription::SharedPtr> subscriptions_;
  rclcpp::Publisher<Verdict>::SharedPtr verdicts_;
  rclcpp::Publisher<Array>::SharedPtr diagnostics_;
  rclcpp::Service<Trigger>::SharedPtr acknowledge_;
  rclcpp::Service<Trigger>::SharedPtr reset_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
};

}  // namespace offnominal_monitor_ros

#endif  // OFFNOMINAL_MONITOR_ROS__NODE_HPP_
