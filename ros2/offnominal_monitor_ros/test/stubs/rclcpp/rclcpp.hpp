// A stub of rclcpp: what the node calls, on one thread, with the time that a test sets. See README.md.

#ifndef STUBS__RCLCPP__RCLCPP_HPP_
#define STUBS__RCLCPP__RCLCPP_HPP_

#include <builtin_interfaces/msg/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rclcpp
{

struct Timer
{
  std::int64_t period;
  std::int64_t due;
  std::function<void()> call;
};

struct SerializedMessage
{
  struct Bytes { std::uint8_t * buffer; std::size_t buffer_length; };
  std::vector<std::uint8_t> bytes;
  Bytes get_rcl_serialized_message() const
  {
    return {const_cast<std::uint8_t *>(bytes.data()), bytes.size()};
  }
};

/// What a network and an executor would hold.
struct World
{
  using Subscriber = std::function<void (std::shared_ptr<const SerializedMessage>)>;
  std::int64_t now = 0;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<std::string>> topics;
  std::map<std::string, std::vector<Subscriber>> subscribers;
  std::map<std::string, std::function<std::pair<bool, std::string>()>> services;
  std::vector<std::shared_ptr<Timer>> timers;
  std::vector<std::string> errors;

  /// Calls the timers that are due up to a time, in the order of time, and stays there.
  void pass(std::int64_t time)
  {
    for (;;) {
      std::shared_ptr<Timer> next;
      for (const auto & timer : timers) {
        next = timer->due <= time && (!next || timer->due < next->due) ? timer : next;
      }
      if (!next) {break;}
      now = next->due;
      next->due += next->period;
      next->call();
    }
    now = time;
  }
};

inline World & world()
{
  static World all;
  return all;
}

/// What was published of a type and not taken yet, each with its topic.
template<class T>
std::vector<std::pair<std::string, T>> & published()
{
  static std::vector<std::pair<std::string, T>> all;
  return all;
}

class Time
{
public:
  explicit Time(std::int64_t nanos = 0, int = 0)
  : nanos_(nanos) {}
  std::int64_t nanoseconds() const {return nanos_;}
  operator builtin_interfaces::msg::Time() const
  {
    return {static_cast<std::int32_t>(nanos_ / 1'000'000'000), static_cast<std::uint32_t>(nanos_ % 1'000'000'000)};
  }

private:
  std::int64_t nanos_;
};

struct Duration
{
  std::int64_t nanos;
  static Duration from_seconds(double secs) {return {static_cast<std::int64_t>(secs * 1e9)};}
};

struct Clock
{
  using SharedPtr = std::shared_ptr<Clock>;
  int get_clock_type() const {return 0;}
};

struct TimerBase { using SharedPtr = std::shared_ptr<TimerBase>; };
struct GenericSubscription { using SharedPtr = std::shared_ptr<GenericSubscription>; };
struct NodeOptions {};
struct Logger {};
struct KeepLast { explicit KeepLast(std::size_t) {} };
struct QoS { explicit QoS(KeepLast) {} };
struct SensorDataQoS : QoS { using QoS::QoS; };

template<class T>
struct Publisher
{
  using SharedPtr = std::shared_ptr<Publisher<T>>;
  std::string topic;
  void publish(const T & message) {published<T>().emplace_back(topic, message);}
};

template<class T>
struct Service { using SharedPtr = std::shared_ptr<Service<T>>; };

struct Topics
{
  std::string resolve_topic_name(const std::string & name) const {return name;}
};

class Node
{
public:
  Node(const std::string & name, const NodeOptions &)
  : name_("/" + name) {}
  virtual ~Node() = default;

  const char * get_fully_qualified_name() const {return name_.c_str();}
  Logger get_logger() const {return {};}
  Clock::SharedPtr get_clock() {return std::make_shared<Clock>();}
  Time now() {return Time(world().now);}
  std::map<std::string, std::vector<std::string>> get_topic_names_and_types() {return world().topics;}
  std::shared_ptr<Topics> get_node_topics_interface() {return std::make_shared<Topics>();}

  template<class T>
  T declare_parameter(const std::string & name, const T & usual)
  {
    const auto given = world().texts.find(name);
    if constexpr (std::is_same_v<T, std::string>) {
      return given == world().texts.end() ? usual : given->second;
    } else {
      return given == world().texts.end() ? usual : static_cast<T>(std::stod(given->second));
    }
  }

  template<class T>
  typename Publisher<T>::SharedPtr create_publisher(const std::string & topic, const QoS &)
  {
    return std::make_shared<Publisher<T>>(Publisher<T>{topic});
  }

  template<class T, class Callback>
  typename Service<T>::SharedPtr create_service(const std::string & name, Callback callback)
  {
    world().services[name] = [callback] {
        auto response = std::make_shared<typename T::Response>();
        callback(std::make_shared<typename T::Request>(), response);
        return std::make_pair(response->success, response->message);
      };
    return std::make_shared<Service<T>>();
  }

  GenericSubscription::SharedPtr create_generic_subscription(
    const std::string & topic, const std::string &, const QoS &, World::Subscriber callback)
  {
    world().subscribers[topic].push_back(std::move(callback));
    return std::make_shared<GenericSubscription>();
  }

  template<class Rep, class Ratio>
  TimerBase::SharedPtr create_wall_timer(
    std::chrono::duration<Rep, Ratio> period, std::function<void()> callback)
  {
    return timer(std::chrono::duration<double>(period).count(), std::move(callback));
  }

  static TimerBase::SharedPtr timer(double secs, std::function<void()> callback)
  {
    const auto period = static_cast<std::int64_t>(secs * 1e9);
    world().timers.push_back(std::make_shared<Timer>(Timer{period, world().now + period, std::move(callback)}));
    return std::make_shared<TimerBase>();
  }

private:
  std::string name_;
};

inline void init(int, char **) {}
inline void spin(std::shared_ptr<Node>) {}
inline void shutdown() {}

inline TimerBase::SharedPtr create_timer(
  Node *, Clock::SharedPtr, Duration period, std::function<void()> callback)
{
  return Node::timer(static_cast<double>(period.nanos) * 1e-9, std::move(callback));
}

}  // namespace rclcpp

#define RCLCPP_INFO(logger, ...) static_cast<void>(logger)
#define RCLCPP_ERROR_THROTTLE(logger, clock, period, format, what) \
  (static_cast<void>(logger), static_cast<void>(clock), rclcpp::world().errors.emplace_back(what))

#endif  // STUBS__RCLCPP__RCLCPP_HPP_
