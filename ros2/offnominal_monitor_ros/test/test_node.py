"""The node with ROS 2: it finds its topics, publishes verdicts and diagnostics, and answers its services.

It needs the folder of `make_monitor.py`, which the variable OFFNOMINAL_TEST_FOLDER names.
"""

import math
import os
import time
import unittest

import launch
import launch_ros.actions
import launch_testing.actions
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from offnominal_msgs.msg import Verdict
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

FOLDER = os.environ["OFFNOMINAL_TEST_FOLDER"]


def generate_test_description():
    node = launch_ros.actions.Node(
        package="offnominal_monitor_ros",
        executable="offnominal_monitor",
        parameters=[{"monitor_file": f"{FOLDER}/arm.monitor", "mapping_file": f"{FOLDER}/topics.toml"}],
    )
    return launch.LaunchDescription([node, launch_testing.actions.ReadyToTest()])


class TestNode(unittest.TestCase):
    """One robot that moves for a while."""

    def setUp(self):
        rclpy.init()
        self.node = rclpy.create_node("robot")
        self.verdicts, self.statuses = [], []
        self.node.create_subscription(Verdict, "/offnominal_monitor/verdict", self.verdicts.append, 100)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self.statuses.append, 10)
        self.joints = self.node.create_publisher(JointState, "/joint_states", 10)
        self.commands = self.node.create_publisher(Twist, "/cmd_vel", 10)

    def tearDown(self):
        self.node.destroy_node()
        rclpy.shutdown()

    def move(self, elbow, push):
        state, command = JointState(), Twist()
        state.name, state.position = ["shoulder", "elbow"], [0.0, elbow]
        command.linear.x = push
        self.joints.publish(state)
        self.commands.publish(command)
        end = time.monotonic() + 0.05
        while time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=max(0.0, end - time.monotonic()))

    def move_until(self, is_enough, fault=0.0):
        """The robot moves until something is there; a minute at most, as machines that test are slow."""
        for step in range(1200):
            push = math.sin(step / 6)
            self.move(0.3 * push + fault, push)
            if is_enough():
                return
        self.fail(f"nothing came; the last diagnostics: {self.statuses[-1:]}")

    def call(self, service):
        client = self.node.create_client(Trigger, service)
        self.assertTrue(client.wait_for_service(timeout_sec=20))
        answer = client.call_async(Trigger.Request())
        rclpy.spin_until_future_complete(self.node, answer, timeout_sec=20)
        return answer.result()

    def levels(self):
        return {status.level[0] for array in self.statuses for status in array.status}

    def test_a_fault_is_told_until_it_is_acknowledged(self):
        self.move_until(lambda: len(self.verdicts) >= 40)
        self.assertTrue(all(v.missing == 0 for v in self.verdicts[-10:]))
        self.move_until(lambda: self.verdicts[-1].state == Verdict.RAISED, fault=3.0)
        self.move_until(lambda: 2 in self.levels(), fault=3.0)
        self.assertTrue(self.call("/offnominal_monitor/acknowledge").success)
        episodes = {v.episode for v in self.verdicts}
        self.assertTrue(self.call("/offnominal_monitor/reset").success)
        self.move_until(lambda: self.verdicts[-1].episode not in episodes)
