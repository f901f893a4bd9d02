//! Steps are read as they were made, taken in order, and nothing else is believed.

use super::*;

/// What `worker/ahead.py` writes of two steps with one number of observation and one of command.
fn body(made: u32, commands: u32, who: u8, numbers: &[f32], told: &str) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(made.to_le_bytes());
    body.extend(commands.to_le_bytes());
    body.push(who);
    for (i, number) in numbers.iter().enumerate() {
        body.extend(number.to_le_bytes());
        if (i as u32) < made {
            body.extend(f64::from(*number).to_le_bytes());
            body.extend(f64::INFINITY.to_le_bytes());
            body.push(0);
            body.extend((number + 0.5).to_le_bytes());
        }
    }
    body.extend(told.as_bytes());
    body
}

fn read(body: &[u8]) -> Option<Played> {
    Played::read(body, 2, 1, 1)
}

/// A policy in no process, with steps from an observation of 0.5 on.
fn ahead(played: Played) -> Ahead {
    let ahead = Ahead { worker: Weak::new(), number: 0, steps: Mutex::default() };
    ahead.fill(&[0.5], played);
    ahead
}

#[test]
fn steps_are_taken_in_turns() {
    let ahead = ahead(read(&body(2, 2, 0, &[1.0, 2.0], "")).unwrap());
    let (mut command, mut obs) = ([0.0], [0.5]);
    for step in [1.0, 2.0] {
        assert!(!ahead.is_used_up());
        assert_eq!(ahead.command(&obs, &mut command), Some(Ok(())));
        assert_eq!(command, [step]);
        let reply = ahead.step(&command, &mut obs).unwrap().unwrap();
        assert_eq!((reply.reward, obs), (f64::from(step), [step + 0.5]));
    }
    assert!(ahead.is_used_up());
    assert_eq!((ahead.command(&obs, &mut command), ahead.step(&command, &mut obs)), (None, None));
}

#[test]
fn whoever_raised_says_so_when_its_turn_comes() {
    let (mut command, mut obs) = ([0.0], [0.5]);
    let policy = ahead(read(&body(1, 1, 1, &[1.0], "tired")).unwrap());
    assert_eq!(policy.command(&obs, &mut command), Some(Ok(())));
    assert!(policy.step(&command, &mut obs).unwrap().is_ok());
    assert_eq!(policy.command(&obs, &mut command), Some(Err("tired".into())));
    let environment = ahead(read(&body(0, 1, 2, &[1.0], "broken")).unwrap());
    assert_eq!(environment.command(&[0.5], &mut command), Some(Ok(())));
    assert_eq!(environment.step(&command, &mut obs), Some(Err("broken".into())));
    assert!(!environment.is_used_up(), "nothing is played after it");
}

#[test]
fn a_command_without_a_step_is_taken_before_more_is_played() {
    let ahead = ahead(read(&body(1, 2, 0, &[1.0, f32::NAN], "")).unwrap());
    let (mut command, mut obs) = ([0.0], [0.5]);
    ahead.command(&obs, &mut command);
    ahead.step(&command, &mut obs);
    assert!(!ahead.is_used_up());
    assert_eq!(ahead.command(&obs, &mut command), Some(Ok(())));
    assert!(command[0].is_nan() && ahead.is_used_up());
}

#[test]
#[should_panic(expected = "promised another observation")]
fn a_policy_that_was_shown_something_else_is_not_answered_for() {
    let ahead = ahead(read(&body(1, 1, 0, &[1.0], "")).unwrap());
    ahead.command(&[0.25], &mut [0.0]);
}

#[test]
#[should_panic(expected = "promised another command")]
fn a_command_that_is_not_the_policys_is_not_answered() {
    let ahead = ahead(read(&body(1, 1, 0, &[1.0], "")).unwrap());
    ahead.step(&[1.5], &mut [0.0]);
}

#[test]
fn what_is_no_account_of_steps_is_refused() {
    let sound = body(2, 2, 0, &[1.0, 2.0], "");
    assert!(read(&sound).is_some());
    assert!((0..sound.len()).all(|n| read(&sound[..n]).is_none()));
    for (made, commands, who, numbers, told) in [
        (3, 3, 0, vec![1.0; 3], ""),    // more than asked for
        (1, 3, 0, vec![1.0; 3], ""),    // commands beyond the next one
        (2, 1, 0, vec![1.0; 2], ""),    // a step without a command
        (1, 1, 0, vec![1.0], "why"),    // nobody raised, and yet
        (1, 2, 1, vec![1.0; 2], "why"), // the policy raised and gave a command
        (1, 1, 2, vec![1.0], "why"),    // the environment raised without one
        (1, 1, 3, vec![1.0], ""),       // nobody known
    ] {
        assert_eq!(read(&body(made, commands, who, &numbers, told)), None, "{made} {commands} {who}");
    }
}

#[test]
fn as_many_steps_are_asked_for_as_an_answer_holds() {
    assert_eq!(at_once(4, 1), 64);
    let wide = at_once(1000, 30);
    assert!(wide < 64 && wide * Played::bytes(1000, 30) <= wire::LONGEST_ERROR);
    assert_eq!(at_once(1 << 20, 1), 0);
}
