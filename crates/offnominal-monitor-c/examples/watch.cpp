/*
 * Watches rows of numbers with a monitor's file, as `watch.c` does; the rows and the output are the same.
 *
 *     c++ -std=c++17 watch.cpp -I include -L LIBRARIES -loffnominal_monitor_c -Wl,-rpath,LIBRARIES -o watch
 *     ./watch cart.monitor < rows.txt
 */

#include "offnominal_monitor.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

const char *const STATES[] = {"disarmed", "armed", "raised"};
const char *const EVENTS[] = {"-", "raised", "cleared"};
const char *const FAMILIES[] = {"observation", "action", "dynamics"};
const char *const DIRECTIONS[] = {"up", "down"};

/// The numbers of a row.
std::vector<double> read_row(const std::string &row)
{
    std::vector<double> numbers;
    std::istringstream words(row);
    for (std::string word; words >> word;)
        numbers.push_back(std::stod(word));
    return numbers;
}

/// Says which channels the score is due to.
void tell_shares(offnominal::monitor &monitor)
{
    const auto shares = monitor.shares();
    const auto names = monitor.observation();
    for (std::size_t i = 0; shares && i < shares->size(); i++)
        if (shares->at(i) != 0)
            std::cout << "share " << names[i].name << ' ' << shares->at(i) << '\n';
}

/// Says what looks wrong.
void diagnose(offnominal::monitor &monitor)
{
    const auto found = monitor.diagnose();
    if (!found)
        return;
    const auto names = monitor.observation();
    for (const auto &off : found->channels)
        std::cout << "diagnosis " << FAMILIES[found->family] << ' ' << found->onset << ' '
                  << names[off.channel].name << ' ' << off.size << ' ' << off.bias << '\n';
    if (!found->candidates)
        return;
    for (const auto &fault : *found->candidates)
        std::cout << "candidate " << fault.anomaly << ' ' << DIRECTIONS[fault.direction] << ' ' << fault.magnitude << ' '
                  << fault.probability << '\n';
}

/// Says what is thought of a step.
void tell(offnominal::monitor &monitor, const offnominal::verdict &v)
{
    std::cout << v.step << ' ' << v.score << ' ' << v.statistic << ' ' << v.threshold << ' ' << STATES[v.state] << ' '
              << EVENTS[v.event] << ' ' << v.missing << ' ' << v.confidence << ' ' << v.lost << '\n';
    if (v.event == OFFNOMINAL_EVENT_RAISED)
        tell_shares(monitor);
    if (monitor.is_diagnosis_due())
        diagnose(monitor);
}

/// One row: a step, the last observation of an episode, or the beginning of one.
void advance(offnominal::monitor &monitor, const std::vector<double> &row)
{
    const std::size_t n_obs = monitor.n_obs(), width = n_obs + monitor.n_action();
    std::optional<offnominal::verdict> verdict;
    if (row.size() == width)
        verdict = monitor.step(row.data(), n_obs, row.data() + n_obs, width - n_obs);
    else if (!row.empty())
        verdict = monitor.last(row);
    if (verdict)
        tell(monitor, *verdict);
    if (row.size() < width)
        monitor.reset();
}

} // namespace

int main(int argc, char **argv)
try {
    if (argc != 2)
        throw std::runtime_error("usage: watch FILE < ROWS");
    offnominal::monitor monitor{std::string(argv[1])};
    std::cout << std::setprecision(17);
    for (std::string row; std::getline(std::cin, row); std::cout.flush())
        advance(monitor, read_row(row));
    return 0;
} catch (const std::exception &why) {
    std::cerr << why.what() << '\n';
    return 2;
}
