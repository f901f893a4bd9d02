"""Starts the node with a file of parameters: `ros2 launch offnominal_monitor_ros monitor.launch.py params:=FILE.yaml`."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    """The node, with the parameters of a file."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("params", description="a file of parameters, as config/monitor.yaml shows"),
            Node(
                package="offnominal_monitor_ros",
                executable="offnominal_monitor",
                parameters=[LaunchConfiguration("params")],
                output="screen",
            ),
        ]
    )
