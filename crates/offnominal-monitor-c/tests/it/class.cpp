/* What the class of C++ promises beyond the example; each `expect` that does not hold ends the program with 1. */

#include "offnominal_monitor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <type_traits>
#include <utility>

static_assert(!std::is_copy_constructible_v<offnominal::monitor>);
static_assert(std::is_nothrow_move_constructible_v<offnominal::monitor>);
static_assert(std::is_nothrow_move_assignable_v<offnominal::monitor>);
static_assert(std::is_base_of_v<std::runtime_error, offnominal::error>);

static void expect(bool holds, const char *what)
{
    if (!holds) {
        std::cerr << what << '\n';
        std::exit(1);
    }
}

template <class Work>
static offnominal_status thrown(Work work)
{
    try {
        work();
    } catch (const offnominal::error &why) {
        expect(why.what()[0] != '\0', "an error has a text");
        return why.code();
    }
    return OFFNOMINAL_STATUS_OK;
}

int main(int, char **argv)
{
    const std::array<double, 3> obs{0.1, 0.2, 0.3}, next{0.2, 0.2, 0.3};
    const std::vector<double> action{0.5};
    offnominal::monitor first{std::string(argv[1])};
    expect(!first.step(obs, action), "the first step has no verdict");
    offnominal::monitor second = std::move(first);
    const auto verdict = second.step(next, action);
    expect(verdict && verdict->step == 0, "a monitor that was moved goes on");
    expect(second.diagnose()->channels.size() >= 1, "a diagnosis has a channel");
    expect(second.diagnose()->candidates.has_value(), "it names faults");
    double sum = 0;
    const auto shares = second.shares();
    for (const double share : *shares)
        sum += share;
    expect(std::abs(sum - verdict->score) <= 1e-9 * std::max(1.0, std::abs(sum)), "shares sum to the score");
    expect(second.acknowledge() == OFFNOMINAL_EVENT_NONE || verdict->state == OFFNOMINAL_STATE_RAISED, "acknowledge");

    expect(thrown([&] { first.reset(); }) == OFFNOMINAL_STATUS_POINTER, "what was moved from fails");
    expect(first.n_obs() == 0 && first.observation().empty() && first.about().empty(), "and is empty");
    expect(thrown([&] { second.step(action, action); }) == OFFNOMINAL_STATUS_WIDTH, "widths are compared");
    expect(thrown([&] { second.transition(next, action, action); }) == OFFNOMINAL_STATUS_WIDTH, "also the next one");
    expect(thrown([&] { offnominal::monitor none{"no/such.monitor"}; }) == OFFNOMINAL_STATUS_UNREADABLE, "no file");

    expect(thrown([&] { second.reset("none"); }) == OFFNOMINAL_STATUS_GROUP, "groups are those of the file");
    second.reset("lift");
    expect(!second.shares() && !second.is_diagnosis_due(), "an episode that begins has no score");
    second.reset();
    offnominal_verdict found{};
    static_assert(noexcept(second.try_step(nullptr, 0, nullptr, 0, found)));
    expect(second.try_step(obs.data(), 3, action.data(), 1, found) == OFFNOMINAL_STATUS_NO_VERDICT, "no verdict yet");
    expect(second.try_step(next.data(), 3, action.data(), 1, found) == OFFNOMINAL_STATUS_OK, "a verdict");
    expect(second.try_step(nullptr, 3, action.data(), 1, found) == OFFNOMINAL_STATUS_POINTER, "no address");
    expect(second.last(obs)->step == 1, "the last observation ends a step");
    expect(second.transition(obs, action, next).step == 2, "transitions go on");
    expect(thrown([&] { second.transition(obs, action, next); }) == OFFNOMINAL_STATUS_GAP, "a gap is noticed");

    expect(second.observation()[1].name == "y" && second.action()[0].unit == "m", "channels have names and units");
    expect(second.about().find("\"alpha\":0.1") != std::string::npos, "about is JSON");
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    second = offnominal::monitor::from_bytes(bytes.data(), bytes.size());
    expect(!second.step(obs, action), "contents are opened too");
    expect(thrown([&] { offnominal::monitor::from_bytes(bytes.data(), 9); }) == OFFNOMINAL_STATUS_FILE, "cut");
    return 0;
}
