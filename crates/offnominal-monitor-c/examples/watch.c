/*
 * Watches rows of numbers with a monitor's file.
 *
 *     cc -std=c11 watch.c -I include -L LIBRARIES -loffnominal_monitor_c -Wl,-rpath,LIBRARIES -o watch
 *     ./watch cart.monitor < rows.txt
 *
 * A row is a tick of the clock: the numbers of the observation and then those of the action, with blanks between them. A
 * row with an observation only is the last of its episode; an empty row begins an episode too. Each step that ends makes
 * a line: step, score, statistic, threshold, state of the alarm, and what happened to it. Where an alarm is raised, a line
 * follows for each channel that has a part of the score: "share", the name of the channel and its part. Where a diagnosis is
 * due, a line follows for each channel that is off: "diagnosis", the family of the fault, the step of its onset, the name
 * of the channel, its size and its bias; and one for each named fault that it may be: "candidate", the name of the anomaly,
 * its direction, magnitude and probability. Numbers have 17 digits, so they can be read back without loss.
 */

#include "offnominal_monitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST_ROW 65536
#define MOST_CHANNELS 8
#define MOST_CANDIDATES 64

static const char *const STATES[] = {"disarmed", "armed", "raised"};
static const char *const EVENTS[] = {"-", "raised", "cleared"};
static const char *const FAMILIES[] = {"observation", "action", "dynamics"};
static const char *const DIRECTIONS[] = {"up", "down"};

/* Says why, and returns the exit code. */
static int failed(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 2;
}

/* Reads at most `most` numbers of a row; how many there are, or `most` + 1 if it has anything else or more. */
static size_t read_row(const char *row, double *numbers, size_t most)
{
    for (size_t n = 0;; n++) {
        char *end;
        double number;
        while (*row == ' ' || *row == '\t' || *row == '\r' || *row == '\n')
            row++;
        if (*row == '\0')
            return n;
        number = strtod(row, &end);
        if (end == row || n == most)
            return most + 1;
        numbers[n] = number;
        row = end;
    }
}

/* Says which channels the score is due to. */
static void tell_shares(offnominal_monitor *monitor)
{
    size_t n = offnominal_n_obs(monitor), i;
    double *shares = malloc(n * sizeof *shares);
    if (shares != NULL && offnominal_shares(monitor, shares, n) == OFFNOMINAL_STATUS_OK)
        for (i = 0; i < n; i++)
            if (shares[i] != 0)
                printf("share %s %.17g\n", offnominal_obs_name(monitor, i), shares[i]);
    free(shares);
}

/* Says which named faults it may be. */
static void tell_candidates(offnominal_monitor *monitor)
{
    offnominal_candidate candidates[MOST_CANDIDATES];
    size_t n = 0, i;
    if (offnominal_candidates(monitor, candidates, MOST_CANDIDATES, &n) != OFFNOMINAL_STATUS_OK)
        return;
    for (i = 0; i < n && i < MOST_CANDIDATES; i++)
        printf("candidate %s %s %.17g %.17g\n", candidates[i].anomaly, DIRECTIONS[candidates[i].direction],
               candidates[i].magnitude, candidates[i].probability);
}

/* Says what looks wrong. */
static void diagnose(offnominal_monitor *monitor)
{
    offnominal_deviation channels[MOST_CHANNELS];
    offnominal_diagnosis found;
    size_t n, i;
    if (offnominal_diagnose(monitor, &found, channels, MOST_CHANNELS) != OFFNOMINAL_STATUS_OK)
        return;
    n = found.n_channels < MOST_CHANNELS ? found.n_channels : MOST_CHANNELS;
    for (i = 0; i < n; i++)
        printf("diagnosis %s %" PRIu64 " %s %.17g %.17g\n", FAMILIES[found.family], found.onset,
               offnominal_obs_name(monitor, channels[i].channel), channels[i].size, channels[i].bias);
    tell_candidates(monitor);
}

/* Says what is thought of a step. */
static void tell(offnominal_monitor *monitor, const offnominal_verdict *v)
{
    printf("%" PRIu64 " %.17g %.17g %.17g %s %s %" PRIu32 " %.17g %" PRIu32 "\n", v->step, v->score, v->statistic,
           v->threshold, STATES[v->state], EVENTS[v->event], v->missing, v->confidence, v->lost);
    if (v->event == OFFNOMINAL_EVENT_RAISED)
        tell_shares(monitor);
    if (offnominal_is_diagnosis_due(monitor))
        diagnose(monitor);
}

/* One row: a step, the last observation of an episode, or the beginning of one. */
static offnominal_status advance(offnominal_monitor *monitor, const double *row, size_t n)
{
    size_t n_obs = offnominal_n_obs(monitor), width = n_obs + offnominal_n_action(monitor);
    offnominal_verdict verdict;
    offnominal_status status = OFFNOMINAL_STATUS_NO_VERDICT;
    if (n == width)
        status = offnominal_step(monitor, row, n_obs, row + n_obs, width - n_obs, &verdict);
    else if (n > 0)
        status = offnominal_last(monitor, row, n, &verdict);
    if (status == OFFNOMINAL_STATUS_OK)
        tell(monitor, &verdict);
    if (status >= 0 && n < width)
        status = offnominal_reset(monitor);
    return status;
}

/* All rows of the standard input; the exit code. */
static int watch(offnominal_monitor *monitor, double *numbers)
{
    static char row[LONGEST_ROW];
    size_t most = offnominal_n_obs(monitor) + offnominal_n_action(monitor);
    while (fgets(row, sizeof row, stdin) != NULL) {
        size_t n = read_row(row, numbers, most);
        if (n > most)
            return failed("row", "expected the numbers of an observation and an action, found more or other text");
        if (advance(monitor, numbers, n) < 0)
            return failed("row", offnominal_last_error());
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    offnominal_monitor *monitor = NULL;
    double *numbers;
    int code;
    if (argc != 2)
        return failed("usage", "watch FILE < ROWS");
    if (offnominal_abi() != OFFNOMINAL_ABI)
        return failed("library", "it has another interface than the header");
    if (offnominal_open(argv[1], &monitor) != OFFNOMINAL_STATUS_OK)
        return failed("open", offnominal_last_error());
    numbers = malloc((offnominal_n_obs(monitor) + offnominal_n_action(monitor)) * sizeof *numbers);
    code = numbers == NULL ? failed("memory", "there is none left") : watch(monitor, numbers);
    free(numbers);
    offnominal_close(monitor);
    return code;
}
