// offnominal_monitor: watches topics of ROS 2 with a monitor's file.

#include <rclcpp/rclcpp.hpp>

#include <cstdio>
#include <exception>
#include <memory>

#include "offnominal_monitor_ros/node.hpp"

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  int code = 0;
  try {
    rclcpp::spin(std::make_shared<offnominal_monitor_ros::MonitorNode>());
  } catch (const std::exception & why) {
    std::fprintf(stderr, "offnominal_monitor: %s\n", why.what());
    code = 2;
  }
  rclcpp::shutdown();
  return code;
}
