/*
 * A fitted detector with its alarm threshold, inside a process in C or any other language.
 *
 * `offnominal fit` writes a file; this library opens it and scores one step after another:
 *
 *     offnominal_monitor *monitor = NULL;
 *     if (offnominal_open("cart.monitor", &monitor) != OFFNOMINAL_STATUS_OK) { puts(offnominal_last_error()); return 1; }
 *     for (;;) {                                              // one tick of the clock
 *         offnominal_verdict verdict;
 *         read(obs), act(obs, action);
 *         offnominal_status status = offnominal_step(monitor, obs, n_obs, action, n_action, &verdict);
 *         if (status == OFFNOMINAL_STATUS_OK && verdict.event == OFFNOMINAL_EVENT_RAISED) stop();
 *     }
 *     offnominal_close(monitor);
 *
 * Threads. A monitor is used by one thread at a time, and a stream of messages too. They may be moved to another thread
 * between two calls, and different ones may be used by different threads at once. The text of an error belongs to the thread whose call failed.
 *
 * Addresses. NULL is an error where it is not allowed, never undefined. An array of which there are 0 may be NULL. What
 * a call cannot see is promised by its caller: a monitor or stream was opened here and not closed; arrays have as many values as
 * are said; nobody changes them while the call lasts; results do not overlap one another, nor what is read.
 *
 * Failures. A status below 0 is an error. Nothing unwinds into the caller, but a failure inside of the library is
 * reported on the standard error stream. The process ends where memory is exhausted.
 *
 * Memory. A call that returns 0 or more allocates nothing after the first episode, but for opening and for reading
 * messages; a call that fails may allocate for its text.
 *
 * This file is made from the Rust sources; `UPDATE_EXPECT=1 cargo test -p offnominal-monitor-c` writes it.
 */

#ifndef OFFNOMINAL_MONITOR_H
#define OFFNOMINAL_MONITOR_H

#include <stddef.h>
#include <stdint.h>

/**
 * The number of this interface. It grows when a function or a structure changes so that old callers would break.
 * Compare it with what `offnominal_abi` returns.
 */
#define OFFNOMINAL_ABI 2

/**
 * What a call returns: 0 or more if it did what it should, less than 0 if it failed.
 */
enum offnominal_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done; results are written.
     */
    OFFNOMINAL_STATUS_OK = 0,
    /**
     * Done, but no step has ended yet: nothing is written. So it is at the first step of an episode.
     */
    OFFNOMINAL_STATUS_NO_VERDICT = 1,
    /**
     * There is no diagnosis: no step has ended yet, or the file was fitted without. Nothing is written.
     */
    OFFNOMINAL_STATUS_NO_DIAGNOSIS = 2,
    /**
     * The parts of the score are not known: no step has ended yet, or the detector does not tell them. Nothing is written.
     */
    OFFNOMINAL_STATUS_NO_SHARES = 3,
    /**
     * A pointer is null where it must not be, or is not aligned for its type.
     */
    OFFNOMINAL_STATUS_POINTER = -1,
    /**
     * The file cannot be read, or a text is not UTF-8.
     */
    OFFNOMINAL_STATUS_UNREADABLE = -2,
    /**
     * The bytes are not a monitor that this version can bring back.
     */
    OFFNOMINAL_STATUS_FILE = -3,
    /**
     * There are too many or too few numbers. The monitor is as it was.
     */
    OFFNOMINAL_STATUS_WIDTH = -4,
    /**
     * The transition does not begin where the one before it ended. The monitor is as it was.
     */
    OFFNOMINAL_STATUS_GAP = -5,
    /**
     * The step cannot be scored for another reason. The monitor is as it was.
     */
    OFFNOMINAL_STATUS_REFUSED = -6,
    /**
     * The library failed inside this call, which is a defect of it. The monitor or stream cannot be used any longer.
     */
    OFFNOMINAL_STATUS_PANICKED = -7,
    /**
     * The library failed inside an earlier call. Only what closes it and what returns texts or widths can be called.
     */
    OFFNOMINAL_STATUS_POISONED = -8,
    /**
     * The mapping says something that cannot be, is for another monitor, or there is none.
     */
    OFFNOMINAL_STATUS_MAPPING = -9,
    /**
     * A message does not follow its definition, or cannot be placed in time.
     */
    OFFNOMINAL_STATUS_MESSAGE = -10,
    /**
     * The file was fitted without a group of this name. The monitor is as it was.
     */
    OFFNOMINAL_STATUS_GROUP = -11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum offnominal_status offnominal_status;
#else
typedef int32_t offnominal_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Whether the alarm is on.
 */
enum offnominal_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The episode is too young for an alarm.
     */
    OFFNOMINAL_STATE_DISARMED = 0,
    /**
     * The monitor watches.
     */
    OFFNOMINAL_STATE_ARMED = 1,
    /**
     * The alarm is on.
     */
    OFFNOMINAL_STATE_RAISED = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum offnominal_state offnominal_state;
#else
typedef int32_t offnominal_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What happened to the alarm in a step.
 */
enum offnominal_event
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It is as it was.
     */
    OFFNOMINAL_EVENT_NONE = 0,
    /**
     * It went on.
     */
    OFFNOMINAL_EVENT_RAISED = 1,
    /**
     * It went off.
     */
    OFFNOMINAL_EVENT_CLEARED = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum offnominal_event offnominal_event;
#else
typedef int32_t offnominal_event;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What happened to the sensors in a step.
 */
enum offnominal_sensor_event
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nothing.
     */
    OFFNOMINAL_SENSOR_EVENT_NONE = 0,
    /**
     * At least one was lost.
     */
    OFFNOMINAL_SENSOR_EVENT_LOST = 1,
    /**
     * At least one came back, and none was lost.
     */
    OFFNOMINAL_SENSOR_EVENT_RETURNED = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum offnominal_sensor_event offnominal_sensor_event;
#else
typedef int32_t offnominal_sensor_event;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Where a fault seems to lie.
 */
enum offnominal_family
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The policy reads something other than the true state.
     */
    OFFNOMINAL_FAMILY_OBSERVATION = 0,
    /**
     * Another action is executed than the policy chose.
     */
    OFFNOMINAL_FAMILY_ACTION = 1,
    /**
     * The environment responds differently.
     */
    OFFNOMINAL_FAMILY_DYNAMICS = 2,
    /**
     * Nothing tells: there are no commands and no faults were taught. The probabilities are equal.
     */
    OFFNOMINAL_FAMILY_UNKNOWN = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum offnominal_family offnominal_family;
#else
typedef int32_t offnominal_family;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * To which side of its neutral magnitude a fault has moved.
 */
enum offnominal_direction
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Larger magnitudes.
     */
    OFFNOMINAL_DIRECTION_UP = 0,
    /**
     * Smaller ones.
     */
    OFFNOMINAL_DIRECTION_DOWN = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum offnominal_direction offnominal_direction;
#else
typedef int32_t offnominal_direction;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A fitted detector with its threshold, watching one episode at a time.
 */
typedef struct offnominal_monitor offnominal_monitor;

/**
 * Messages of ROS 2 as they come, and the ticks of a monitor's clock that are made of them.
 */
typedef struct offnominal_stream offnominal_stream;

/**
 * What is said of a step.
 */
typedef struct offnominal_verdict {
    /**
     * Which step of the episode, counted from 0.
     */
    uint64_t step;
    /**
     * How anomalous the detector finds it; larger is more.
     */
    double score;
    /**
     * What is compared with the threshold: the score, or what has accumulated.
     */
    double statistic;
    /**
     * The threshold.
     */
    double threshold;
    /**
     * Whether the alarm is on.
     */
    offnominal_state state;
    /**
     * Whether it went on or off in this step.
     */
    offnominal_event event;
    /**
     * Numbers of the observation that were not read.
     */
    uint32_t missing;
    /**
     * The longest time, in steps, for which one of them has not been read; 0 if all were.
     */
    uint32_t stale;
    /**
     * Share of what the detector compares that was read: 1 if nothing is missing, 0 if the score says nothing.
     */
    double confidence;
    /**
     * Sensors that are lost: numbers of the observation that were not read for longer than the file allows.
     */
    uint32_t lost;
    /**
     * Whether one was lost in this step, or came back.
     */
    offnominal_sensor_event sensor_event;
    /**
     * 1 if the promise does not hold for this step: its episode is longer than any that set the threshold, has steps of another
     * length, or is of a task that is none of the monitor's groups. What was promised of an episode holds for its steps before.
     */
    uint32_t beyond_promise;
} offnominal_verdict;

/**
 * What looks wrong.
 */
typedef struct offnominal_diagnosis {
    /**
     * The step of the episode, counted from 0, at which it seems to have begun.
     */
    uint64_t onset;
    /**
     * Probability of each family, in the order of `offnominal_family`.
     */
    double probabilities[3];
    /**
     * The family that it looks like most.
     */
    offnominal_family family;
    /**
     * How many channels are off; as many as there is room for are written.
     */
    size_t n_channels;
} offnominal_diagnosis;

/**
 * How far a channel is off, in nominal standard deviations of its prediction error.
 */
typedef struct offnominal_deviation {
    /**
     * Which number of the observation.
     */
    size_t channel;
    /**
     * Root mean square since the onset.
     */
    double size;
    /**
     * Mean since the onset.
     */
    double bias;
} offnominal_deviation;

/**
 * A named fault that may be the one.
 */
typedef struct offnominal_candidate {
    /**
     * Name of the anomaly as UTF-8, such as "dyn-mass". The text stays until the monitor is closed.
     */
    const char *anomaly;
    /**
     * To which side of its neutral magnitude.
     */
    offnominal_direction direction;
    /**
     * The magnitude at which there is no fault.
     */
    double neutral;
    /**
     * The magnitude that it would have, in the unit of the anomaly.
     */
    double magnitude;
    /**
     * How probable it is, if all families were equally likely before, and within each all faults that were taught.
     */
    double probability;
} offnominal_candidate;

/**
 * When a step was over that was made of messages.
 */
typedef struct offnominal_tick {
    /**
     * In nanoseconds of the clock of the messages.
     */
    int64_t time_nanos;
    /**
     * The same in seconds since the first tick of the episode.
     */
    double secs;
    /**
     * Which episode, counted from 0.
     */
    uint64_t episode;
    /**
     * Messages so far that came too late or twice.
     */
    uint64_t dropped;
} offnominal_tick;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "0.1.0". Which files it opens is decided by the version of their format.
 */
const char *offnominal_version(void);

/**
 * The number of the library's interface. A program whose OFFNOMINAL_ABI is another one must not call anything else.
 */
uint32_t offnominal_abi(void);

/**
 * Why the last call that failed in this thread has failed: what was expected, and what was found. Empty if none has.
 *
 * The text stays until the next call fails in this thread, or the thread ends. A call that succeeds leaves it as it is.
 */
const char *offnominal_last_error(void);

/**
 * Opens a file that `offnominal fit` wrote.
 *
 * `path` is UTF-8 and ends with a zero. `monitor` gets the monitor, or NULL if the call fails; the caller closes it.
 *
 * Errors: POINTER, UNREADABLE, and FILE if it is damaged, was edited, has another version, or needs the policy.
 */
offnominal_status offnominal_open(const char *path,
                                  struct offnominal_monitor **monitor);

/**
 * Opens the contents of such a file, which are not needed any longer when the call returns.
 *
 * `bytes` has `n_bytes`. `monitor` gets the monitor, or NULL if the call fails; the caller closes it.
 *
 * Errors: POINTER, WIDTH if memory cannot hold so many, and FILE as above.
 */
offnominal_status offnominal_open_bytes(const uint8_t *bytes,
                                        size_t n_bytes,
                                        struct offnominal_monitor **monitor);

/**
 * Ends a monitor; the pointer and all texts of the monitor are invalid afterwards. NULL does nothing.
 */
void offnominal_close(struct offnominal_monitor *monitor);

/**
 * Numbers per observation; 0 if `monitor` is NULL.
 */
size_t offnominal_n_obs(const struct offnominal_monitor *monitor);

/**
 * Numbers per action; 0 if `monitor` is NULL, or if there are none.
 */
size_t offnominal_n_action(const struct offnominal_monitor *monitor);

/**
 * The name of a number of the observation, as UTF-8; NULL if there is no such number or `monitor` is NULL.
 *
 * The text stays until the monitor is closed.
 */
const char *offnominal_obs_name(const struct offnominal_monitor *monitor, size_t channel);

/**
 * The unit of a number of the observation; as `offnominal_obs_name`.
 */
const char *offnominal_obs_unit(const struct offnominal_monitor *monitor, size_t channel);

/**
 * 1 if the sensor of a number of the observation is lost: it was not read for longer than the file allows. 0 if it is not,
 * if there is no such number or `monitor` is NULL.
 */
int32_t offnominal_is_lost(const struct offnominal_monitor *monitor,
                           size_t channel);

/**
 * How many faults a diagnosis can name, as it was taught so many; 0 if none, or if `monitor` is NULL.
 */
size_t offnominal_n_hypotheses(const struct offnominal_monitor *monitor);

/**
 * The name of a number of the action; as `offnominal_obs_name`.
 */
const char *offnominal_action_name(const struct offnominal_monitor *monitor, size_t channel);

/**
 * The unit of a number of the action; as `offnominal_obs_name`.
 */
const char *offnominal_action_unit(const struct offnominal_monitor *monitor, size_t channel);

/**
 * The header of the monitor's file as JSON: detector, environment and policy, channels, seconds per step, the threshold
 * with its rule and alpha, and the settings of the alarm. NULL if `monitor` is NULL.
 *
 * The text stays until the monitor is closed.
 */
const char *offnominal_about(const struct offnominal_monitor *monitor);

/**
 * An episode begins: nothing is remembered of the one before, not even an alarm.
 *
 * Errors: POINTER, PANICKED, POISONED.
 */
offnominal_status offnominal_reset(struct offnominal_monitor *monitor);

/**
 * An episode of a group begins, such as one of a task: as `offnominal_reset`, with the threshold of that group.
 *
 * `group` is UTF-8 that a zero ends, and one of the groups that the file was fitted with; `offnominal_about` lists them.
 *
 * Errors: POINTER, UNREADABLE if the text is not UTF-8, GROUP if there is no such group, PANICKED, POISONED. After all but the
 * last two the monitor is as it was.
 */
offnominal_status offnominal_reset_group(struct offnominal_monitor *monitor,
                                         const char *group);

/**
 * One tick of the clock: the observation that was just read, and the action that the policy gives for it.
 *
 * The verdict is on the step that ends with this observation, so the first call of an episode returns NO_VERDICT.
 * `obs` has `n_obs` numbers and `action` has `n_action`, as many as `offnominal_n_obs` and `offnominal_n_action` say, in
 * the order of their names and in the units of their channels. A number that is infinite or not a number was not read; the
 * verdict counts them. `verdict` is written where OK is returned, and only there.
 *
 * Errors: POINTER, WIDTH, REFUSED if single precision cannot hold a number, PANICKED, POISONED. After all but the last two the monitor is as it was.
 */
offnominal_status offnominal_step(struct offnominal_monitor *monitor,
                                  const double *obs,
                                  size_t n_obs,
                                  const double *action,
                                  size_t n_action,
                                  struct offnominal_verdict *verdict);

/**
 * The observation after which there is no action, as the episode has ended. `offnominal_reset` begins the next one.
 *
 * Arguments, results and errors are those of `offnominal_step`.
 */
offnominal_status offnominal_last(struct offnominal_monitor *monitor,
                                  const double *obs,
                                  size_t n_obs,
                                  struct offnominal_verdict *verdict);

/**
 * A whole transition, which must begin where the one before it ended: `obs` and `next_obs` have `n_obs` numbers each,
 * `action` has `n_action`. There is always a verdict.
 *
 * Errors: those of `offnominal_step`, and GAP if a step is missing, or a reset.
 */
offnominal_status offnominal_transition(struct offnominal_monitor *monitor,
                                        const double *obs,
                                        size_t n_obs,
                                        const double *action,
                                        size_t n_action,
                                        const double *next_obs,
                                        struct offnominal_verdict *verdict);

/**
 * Somebody has seen the alarm: it goes off, and can be raised again. `event` gets CLEARED, or NONE if there was no alarm.
 *
 * Errors: POINTER, PANICKED, POISONED.
 */
offnominal_status offnominal_acknowledge(struct offnominal_monitor *monitor,
                                         offnominal_event *event);

/**
 * Which part of the score of the last step is due to each number of the observation: the parts sum to the score.
 *
 * `shares` gets `n_shares` numbers, as many as `offnominal_n_obs` says, in the order of their names. What the score is made of
 * is not yet what is broken, for which there is `offnominal_diagnose`. Returns NO_SHARES before the first verdict of an episode,
 * and if the detector does not tell the parts.
 *
 * Errors: POINTER, WIDTH, PANICKED, POISONED.
 */
offnominal_status offnominal_shares(struct offnominal_monitor *monitor,
                                    double *shares,
                                    size_t n_shares);

/**
 * 1 if a diagnosis says something new at the last step: at the one that raised the alarm and, where faults can be named, 5 and 20
 * steps after it. 0 if not, or if `monitor` is NULL.
 */
int32_t offnominal_is_diagnosis_due(const struct offnominal_monitor *monitor);

/**
 * What looks wrong, judging from the last steps of the episode: worth asking when an alarm is raised, and again later,
 * when more is known.
 *
 * `diagnosis` gets the answer. `channels` has room for `n_channels` and gets the channels that are off, most deviant
 * first: those that are off by two nominal standard deviations or more, and the first in any case. It may be NULL if
 * `n_channels` is 0. Returns NO_DIAGNOSIS before the first verdict, and if the file was fitted without diagnosis.
 *
 * Errors: POINTER, WIDTH if memory cannot hold so many, PANICKED, POISONED.
 */
offnominal_status offnominal_diagnose(struct offnominal_monitor *monitor,
                                      struct offnominal_diagnosis *diagnosis,
                                      struct offnominal_deviation *channels,
                                      size_t n_channels);

/**
 * The named faults that what was seen is compatible with, judging as `offnominal_diagnose` does and at the same cost.
 *
 * `candidates` has room for `n_candidates`, and gets those of the most probable family first, and within each the most
 * probable; there are at most as many as `offnominal_n_hypotheses` says. It may be NULL if `n_candidates` is 0. `n_found` gets how
 * many there are; as many as there is room for are written. If there are none, it is another fault than those that were taught.
 * Returns NO_DIAGNOSIS before the first verdict, and if the monitor was not taught to name faults.
 *
 * Errors: POINTER, WIDTH if memory cannot hold so many, PANICKED, POISONED.
 */
offnominal_status offnominal_candidates(struct offnominal_monitor *monitor,
                                        struct offnominal_candidate *candidates,
                                        size_t n_candidates,
                                        size_t *n_found);

/**
 * One tick of `n` monitors, as `offnominal_step` for each of them in their order; one that fails does not stop the others.
 *
 * `obs` is `[n, n_obs]` and `action` is `[n, n_action]`, row after row. `verdicts` and `statuses` have room for `n`. Each
 * monitor gets its status; its verdict is written where that is OK, and only there. Returns OK if no monitor has failed,
 * else the status of the first one that has, of which the text of the error is too.
 *
 * Errors: POINTER and WIDTH if the arguments themselves are wrong; then no monitor was advanced and no status written.
 */
offnominal_status offnominal_step_many(struct offnominal_monitor *const *monitors,
                                       size_t n,
                                       const double *obs,
                                       size_t n_obs,
                                       const double *action,
                                       size_t n_action,
                                       struct offnominal_verdict *verdicts,
                                       offnominal_status *statuses);

/**
 * The stream of a monitor: messages of ROS 2 go in, and steps at the rate of the monitor's clock come out, as
 * `offnominal monitor` makes them of a recording of the same messages.
 *
 * `mapping` is the text of a mapping in TOML that names the monitor's channels, or NULL for that of the monitor's file,
 * which has one if it was fitted on logs. Columns are `topic:field`, such as "/imu:angular_velocity.x". `stream` gets the
 * stream, or NULL if the call fails; the caller closes it. The monitor may be closed before.
 *
 * Errors: POINTER, UNREADABLE if the mapping is not UTF-8, and MAPPING.
 */
offnominal_status offnominal_stream_open(const struct offnominal_monitor *monitor,
                                         const char *mapping,
                                         struct offnominal_stream **stream);

/**
 * Ends a stream; the pointer and all texts of the stream are invalid afterwards. NULL does nothing.
 */
void offnominal_stream_close(struct offnominal_stream *stream);

/**
 * How many topics the mapping names; 0 if `stream` is NULL.
 */
size_t offnominal_stream_n_topics(const struct offnominal_stream *stream);

/**
 * The name of a topic, as UTF-8; NULL if there is no such topic or `stream` is NULL.
 *
 * The text stays until the stream is closed.
 */
const char *offnominal_stream_topic(const struct offnominal_stream *stream, size_t topic);

/**
 * How many columns the mapping names: those of the observation, those of the action, and perhaps one that tells episodes
 * apart. 0 if `stream` is NULL.
 */
size_t offnominal_stream_n_columns(const struct offnominal_stream *stream);

/**
 * The name of a column; as `offnominal_stream_topic`.
 */
const char *offnominal_stream_column(const struct offnominal_stream *stream, size_t column);

/**
 * Seconds from the last number of a column to a time; infinite if none has come, there is no such column, or `stream` is
 * NULL.
 */
double offnominal_stream_age_secs(const struct offnominal_stream *stream,
                                  size_t column,
                                  int64_t time_nanos);

/**
 * Steps per second; 0 if each message of the only topic is a step, or if `stream` is NULL.
 */
double offnominal_stream_rate_hz(const struct offnominal_stream *stream);

/**
 * Says of which type the messages of a topic are, before the first of them.
 *
 * `kind` is the name of the type, such as "sensor_msgs/msg/Imu". `definition` is the text of its `.msg` file, and after it,
 * for each type that it uses, a line of `=`, a line `MSG: package/Type`, and the text of that type's file.
 *
 * Errors: POINTER, UNREADABLE if a text is not UTF-8, MESSAGE, PANICKED, POISONED.
 */
offnominal_status offnominal_stream_define(struct offnominal_stream *stream,
                                           size_t topic,
                                           const char *kind,
                                           const char *definition);

/**
 * A message of a topic, as ROS 2 serializes it (CDR), and when it came, in nanoseconds.
 *
 * Steps whose time is before that of the message are over: `offnominal_stream_next` judges them.
 *
 * Errors: POINTER, WIDTH, MESSAGE, PANICKED, POISONED. After MESSAGE the message is left out.
 */
offnominal_status offnominal_stream_message(struct offnominal_stream *stream,
                                            size_t topic,
                                            int64_t time_nanos,
                                            const uint8_t *bytes,
                                            size_t n_bytes);

/**
 * Time has come so far, and no message has: steps before it are over, with the last numbers that came. So a silence of
 * all topics is noticed. Where the mapping says that silence ends an episode, nothing happens.
 *
 * Errors: POINTER, MESSAGE if too many steps would be over at once, PANICKED, POISONED.
 */
offnominal_status offnominal_stream_advance(struct offnominal_stream *stream,
                                            int64_t time_nanos);

/**
 * The episode is over, and the next message begins one; steps that were not judged yet are forgotten. The clock of the
 * messages may begin anew, even at an earlier time.
 *
 * Errors: POINTER, PANICKED, POISONED.
 */
offnominal_status offnominal_stream_end_episode(struct offnominal_stream *stream);

/**
 * Judges the next step that is over: `tick` gets when that was, `verdict` what is said of it. Call it until it returns
 * NO_VERDICT; then both are as they were. Where an episode begins the monitor is reset; it stays with the group that
 * `offnominal_reset_group` told last.
 *
 * `monitor` is the one that the stream was opened for.
 *
 * Errors: POINTER, WIDTH if the monitor is another one, PANICKED, POISONED.
 */
offnominal_status offnominal_stream_next(struct offnominal_stream *stream,
                                         struct offnominal_monitor *monitor,
                                         struct offnominal_tick *tick,
                                         struct offnominal_verdict *verdict);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* OFFNOMINAL_MONITOR_H */
