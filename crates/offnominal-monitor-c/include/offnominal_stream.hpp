/*
 * Messages of ROS 2 become the steps of a monitor, inside a process in C++17.
 *
 *     offnominal::monitor monitor("robot.monitor");
 *     offnominal::stream stream(monitor);
 *     stream.define(0, "sensor_msgs/msg/Imu", definition);          // once for each topic
 *     stream.message(0, time_nanos, bytes, n_bytes);                // whenever one comes
 *     while (auto step = stream.next(monitor)) tell(step->verdict);
 *
 * It wraps the functions `offnominal_stream_*` of `offnominal_monitor.h`, whose rules hold. Errors are exceptions of the
 * type `offnominal::error`.
 */

#ifndef OFFNOMINAL_STREAM_HPP
#define OFFNOMINAL_STREAM_HPP

#include "offnominal_monitor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace offnominal {

/// A step that was made of messages: when it was over, and what is said of it.
struct step {
    offnominal_tick tick;
    offnominal_verdict verdict;
};

/// The messages of a monitor. It can be moved and not copied; one that was moved from can be destroyed and assigned to.
class stream {
public:
    /// By the mapping of the monitor's file, which has one if it was fitted on logs. Throws `error`.
    explicit stream(const monitor &of) : stream(of, nullptr) {}

    /// By the text of a mapping in TOML, which names the channels of the monitor. Throws `error`.
    stream(const monitor &of, const std::string &mapping) : stream(of, mapping.c_str()) {}

    /// The topics that the mapping names; their places are the numbers of the topics.
    std::vector<std::string> topics() const
    {
        std::vector<std::string> found;
        for (std::size_t i = 0; i < offnominal_stream_n_topics(get()); i++)
            found.emplace_back(offnominal_stream_topic(get(), i));
        return found;
    }

    /// The columns that the mapping names, those of the observation first, then those of the action.
    std::vector<std::string> columns() const
    {
        std::vector<std::string> found;
        for (std::size_t i = 0; i < offnominal_stream_n_columns(get()); i++)
            found.emplace_back(offnominal_stream_column(get(), i));
        return found;
    }

    /// Seconds from the last number of a column to a time; infinite if none has come.
    double age_secs(std::size_t column, std::int64_t time_nanos) const noexcept
    {
        return offnominal_stream_age_secs(get(), column, time_nanos);
    }

    /// Steps per second; 0 if each message of the only topic is a step.
    double rate_hz() const noexcept { return offnominal_stream_rate_hz(get()); }

    /// Says of which type the messages of a topic are, before the first of them. Throws `error`.
    void define(std::size_t topic, const std::string &kind, const std::string &definition)
    {
        check(offnominal_stream_define(get(), topic, kind.c_str(), definition.c_str()));
    }

    /// A message as ROS 2 serializes it, and when it came. Throws `error`; the message is left out then.
    void message(std::size_t topic, std::int64_t time_nanos, const std::uint8_t *bytes, std::size_t n_bytes)
    {
        check(offnominal_stream_message(get(), topic, time_nanos, bytes, n_bytes));
    }

    /// Time has come so far, and no message has. Throws `error`.
    void advance(std::int64_t time_nanos) { check(offnominal_stream_advance(get(), time_nanos)); }

    /// The episode is over, and the next message begins one. Throws `error`.
    void end_episode() { check(offnominal_stream_end_episode(get())); }

    /// The next step that is over, if there is one, judged by the monitor that the stream was opened for. Throws `error`.
    std::optional<step> next(monitor &by)
    {
        step found{};
        if (check(offnominal_stream_next(get(), by.get(), &found.tick, &found.verdict)) != OFFNOMINAL_STATUS_OK)
            return std::nullopt;
        return found;
    }

    /// For calls of the C interface; the stream keeps it.
    offnominal_stream *get() const noexcept { return handle_.get(); }

private:
    struct closes {
        void operator()(offnominal_stream *handle) const noexcept { offnominal_stream_close(handle); }
    };

    stream(const monitor &of, const char *mapping)
    {
        offnominal_stream *opened = nullptr;
        check(offnominal_stream_open(of.get(), mapping, &opened));
        handle_.reset(opened);
    }

    static offnominal_status check(offnominal_status found)
    {
        if (found < 0)
            throw error(found, offnominal_last_error());
        return found;
    }

    std::unique_ptr<offnominal_stream, closes> handle_;
};

} // namespace offnominal

#endif /* OFFNOMINAL_STREAM_HPP */
