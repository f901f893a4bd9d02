/*
 * A fitted detector with its alarm threshold, inside a process in C++17.
 *
 *     offnominal::monitor monitor("cart.monitor");
 *     if (auto verdict = monitor.step(obs, action); verdict && verdict->event == OFFNOMINAL_EVENT_RAISED) stop();
 *
 * It wraps `offnominal_monitor.h`, whose rules hold: a monitor is used by one thread at a time and may be moved to
 * another. Errors are exceptions of the type `offnominal::error`; `try_step` is for where none may be thrown. Rows of
 * numbers are anything contiguous with `data()` and `size()`, or an address and a number.
 */

#ifndef OFFNOMINAL_MONITOR_HPP
#define OFFNOMINAL_MONITOR_HPP

#include "offnominal_monitor.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace offnominal {

using status = offnominal_status;
using state = offnominal_state;
using event = offnominal_event;
using sensor_event = offnominal_sensor_event;
using family = offnominal_family;
using direction = offnominal_direction;
using verdict = offnominal_verdict;
using deviation = offnominal_deviation;

/// Why a call failed: its status, and in `what()` what was expected and what was found.
class error : public std::runtime_error {
public:
    error(offnominal_status code, const char *text) : std::runtime_error(text), code_(code) {}

    /// The status, which is less than 0.
    offnominal_status code() const noexcept { return code_; }

private:
    offnominal_status code_;
};

/// A named fault that may be the one; its numbers are those of `offnominal_candidate`.
struct candidate {
    std::string anomaly;
    offnominal_direction direction;
    double neutral;
    double magnitude;
    double probability;
};

/// What looks wrong; the channels are those that are off, most deviant first.
struct diagnosis : offnominal_diagnosis {
    std::vector<offnominal_deviation> channels;
    /// The named faults that it may be, those of the most probable family first; nothing if the monitor was not taught any.
    /// If there are none, it is another fault than those that were taught.
    std::optional<std::vector<candidate>> candidates;
};

/// What a number of an observation or an action is.
struct channel {
    std::string name;
    std::string unit;
};

/// A fitted detector with its threshold, watching one episode at a time. It can be moved and not copied; one that was
/// moved from can be destroyed and assigned to, and every other call fails.
class monitor {
public:
    /// Opens a file that `offnominal fit` wrote. Throws `error`.
    explicit monitor(const std::string &path)
    {
        check_abi();
        offnominal_monitor *opened = nullptr;
        check(offnominal_open(path.c_str(), &opened));
        handle_.reset(opened);
    }

    /// Opens the contents of such a file. Throws `error`.
    static monitor from_bytes(const void *bytes, std::size_t n_bytes)
    {
        check_abi();
        offnominal_monitor *opened = nullptr;
        check(offnominal_open_bytes(static_cast<const std::uint8_t *>(bytes), n_bytes, &opened));
        return monitor(opened);
    }

    /// An episode begins. Throws `error`.
    void reset() { check(offnominal_reset(get())); }

    /// An episode of a group begins, such as one of a task, and has the threshold of that group. Throws `error`.
    void reset(const std::string &group) { check(offnominal_reset_group(get(), group.c_str())); }

    /// One tick of the clock: the observation that was just read and the action for it. There is no verdict at the first
    /// call of an episode. Throws `error`; all but defects of the library leave the monitor as it was.
    template <class Obs, class Action>
    std::optional<offnominal_verdict> step(const Obs &obs, const Action &action)
    {
        return step(std::data(obs), std::size(obs), std::data(action), std::size(action));
    }

    std::optional<offnominal_verdict> step(const double *obs, std::size_t n_obs, const double *action, std::size_t n_action)
    {
        offnominal_verdict found{};
        return told(offnominal_step(get(), obs, n_obs, action, n_action, &found), found);
    }

    /// The same without exceptions: the verdict is written where OFFNOMINAL_STATUS_OK is returned.
    offnominal_status try_step(const double *obs, std::size_t n_obs, const double *action, std::size_t n_action,
                               offnominal_verdict &found) noexcept
    {
        return offnominal_step(get(), obs, n_obs, action, n_action, &found);
    }

    /// The observation after which there is no action, as the episode has ended. Throws `error`.
    template <class Obs>
    std::optional<offnominal_verdict> last(const Obs &obs)
    {
        return last(std::data(obs), std::size(obs));
    }

    std::optional<offnominal_verdict> last(const double *obs, std::size_t n_obs)
    {
        offnominal_verdict found{};
        return told(offnominal_last(get(), obs, n_obs, &found), found);
    }

    /// A whole transition, which must begin where the one before it ended. Throws `error`.
    template <class Obs, class Action, class NextObs>
    offnominal_verdict transition(const Obs &obs, const Action &action, const NextObs &next_obs)
    {
        if (std::size(obs) != std::size(next_obs))
            throw error(OFFNOMINAL_STATUS_WIDTH, "next_obs: expected as many numbers as in obs, found others");
        offnominal_verdict found{};
        check(offnominal_transition(get(), std::data(obs), std::size(obs), std::data(action), std::size(action),
                                    std::data(next_obs), &found));
        return found;
    }

    /// Somebody has seen the alarm: it goes off, and can be raised again. Throws `error`.
    offnominal_event acknowledge()
    {
        offnominal_event found = OFFNOMINAL_EVENT_NONE;
        check(offnominal_acknowledge(get(), &found));
        return found;
    }

    /// What looks wrong, if any step has ended and the file was fitted with diagnosis. Throws `error`.
    std::optional<diagnosis> diagnose()
    {
        diagnosis found{};
        found.channels.resize(n_obs());
        if (check(offnominal_diagnose(get(), &found, found.channels.data(), found.channels.size())) !=
            OFFNOMINAL_STATUS_OK)
            return std::nullopt;
        found.channels.resize(found.n_channels);
        found.candidates = candidates();
        return found;
    }

    /// Whether a diagnosis says something new at the last step.
    bool is_diagnosis_due() const noexcept { return offnominal_is_diagnosis_due(get()) != 0; }

    /// Which part of the score of the last step is due to each number of the observation; the parts sum to the score. Nothing
    /// before the first step, and if the detector does not tell. Throws `error`.
    std::optional<std::vector<double>> shares()
    {
        std::vector<double> found(n_obs());
        if (check(offnominal_shares(get(), found.data(), found.size())) != OFFNOMINAL_STATUS_OK)
            return std::nullopt;
        return found;
    }

    /// Numbers per observation.
    std::size_t n_obs() const noexcept { return offnominal_n_obs(get()); }

    /// Numbers per action.
    std::size_t n_action() const noexcept { return offnominal_n_action(get()); }

    /// What the numbers of an observation are.
    std::vector<channel> observation() const { return channels(n_obs(), offnominal_obs_name, offnominal_obs_unit); }

    /// Whether the sensor of a number of the observation is lost.
    bool is_lost(std::size_t channel) const noexcept { return offnominal_is_lost(get(), channel) != 0; }

    /// What the numbers of an action are.
    std::vector<channel> action() const
    {
        return channels(n_action(), offnominal_action_name, offnominal_action_unit);
    }

    /// The header of the file as JSON.
    std::string about() const
    {
        const char *text = offnominal_about(get());
        return text == nullptr ? std::string() : std::string(text);
    }

    /// For calls of the C interface, such as `offnominal_step_many`; the monitor keeps it.
    offnominal_monitor *get() const noexcept { return handle_.get(); }

private:
    struct closes {
        void operator()(offnominal_monitor *handle) const noexcept { offnominal_close(handle); }
    };
    using text_of = const char *(*)(const offnominal_monitor *, std::size_t);

    explicit monitor(offnominal_monitor *opened) noexcept : handle_(opened) {}

    static offnominal_status check(offnominal_status found)
    {
        if (found < 0)
            throw error(found, offnominal_last_error());
        return found;
    }

    static void check_abi()
    {
        if (offnominal_abi() != OFFNOMINAL_ABI)
            throw std::runtime_error("the library has another interface than its header");
    }

    static std::optional<offnominal_verdict> told(offnominal_status found, const offnominal_verdict &verdict)
    {
        if (check(found) == OFFNOMINAL_STATUS_NO_VERDICT)
            return std::nullopt;
        return verdict;
    }

    std::optional<std::vector<candidate>> candidates()
    {
        std::vector<offnominal_candidate> told(offnominal_n_hypotheses(get()));
        std::size_t n = 0;
        if (told.empty() || check(offnominal_candidates(get(), told.data(), told.size(), &n)) != OFFNOMINAL_STATUS_OK)
            return std::nullopt;
        std::vector<candidate> found;
        for (std::size_t i = 0; i < n; i++)
            found.push_back({told[i].anomaly, told[i].direction, told[i].neutral, told[i].magnitude, told[i].probability});
        return found;
    }

    std::vector<channel> channels(std::size_t n, text_of name, text_of unit) const
    {
        std::vector<channel> found;
        for (std::size_t i = 0; i < n; i++)
            found.push_back({name(get(), i), unit(get(), i)});
        return found;
    }

    std::unique_ptr<offnominal_monitor, closes> handle_;
};

} // namespace offnominal

#endif /* OFFNOMINAL_MONITOR_HPP */
