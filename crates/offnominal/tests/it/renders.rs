//! `render`: an episode as images, masks and a video.

use super::{fails, offnominal, succeeds};
use std::fs;
use std::path::Path;

const SAP: [&str; 7] = ["render", "--env", "sap-goal0", "--policy", "random", "--size", "48"];

/// Pixel values and size of a PNG.
fn pixels(path: &Path) -> (Vec<u8>, (u32, u32)) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(fs::read(path).unwrap())).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    data.truncate(info.buffer_size());
    (data, (info.width, info.height))
}

fn n_frames(video: &[u8]) -> usize {
    let mut decoder = gif::DecodeOptions::new().read_info(video).unwrap();
    std::iter::from_fn(|| decoder.read_next_frame().unwrap().map(|_| ())).count()
}

#[test]
fn an_episode_becomes_images_masks_and_a_video() {
    let folder = tempfile::tempdir().unwrap();
    let said = succeeds(offnominal(&SAP, folder.path()).args(["--classes", "--json"])).stdout;
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    let files: Vec<&Path> =
        said["files"].as_array().unwrap().iter().map(|f| Path::new(f.as_str().unwrap())).collect();
    assert_eq!(files.len(), 7, "three images, three masks, one video");
    let (colours, size) = pixels(files[0]);
    let (classes, _) = pixels(files[1]);
    assert_eq!((colours.len(), size, classes.len()), (48 * 48 * 3, (48, 48), 48 * 48));
    assert!(classes.contains(&1) && classes.contains(&0), "the agent and the background are in the mask");
    let video = fs::read(folder.path().join("episode.gif")).unwrap();
    assert!(n_frames(&video) > 1);
}

#[test]
fn the_same_seed_videos_the_same_bits_and_an_anomaly_changes_them() {
    let folder = tempfile::tempdir().unwrap();
    let video = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        succeeds(offnominal(&SAP, &out).args(more));
        fs::read(out.join("episode.gif")).unwrap()
    };
    let nominal = video("a", &[]);
    assert!(nominal == video("b", &[]), "the same seed gives the same video");
    let disturbed = ["--anomaly", "act-scaling", "--magnitude", "-1", "--onset", "0"];
    assert!(nominal != video("c", &disturbed), "reversed actions are seen");
}

#[test]
fn wrong_names_and_late_onsets_are_explained_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let camera = fails(offnominal(&SAP, &out).args(["--camera", "topp"]));
    assert!(camera.contains("did you mean \"top\""), "{camera}");
    let late = ["--anomaly", "act-scaling", "--magnitude", "0.5", "--onset", "99999"];
    let onset = fails(offnominal(&SAP, &out).args(late));
    assert!(onset.contains("99999"), "{onset}");
    assert!(!out.exists());
}

#[test]
fn a_sheet_has_the_nominal_frame_and_one_of_each_strength() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sheet.png");
    let args = ["render", "--env", "sap-goal0", "--anomaly", "cam-fog", "--size", "48", "--sheet"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_offnominal"));
    command.args(args).arg(&file).args(["--strength", "tiny,strong", "--json"]);
    let said: serde_json::Value = serde_json::from_slice(&succeeds(&mut command).stdout).unwrap();
    assert_eq!(said["frames"], 3);
    let (_, (width, height)) = pixels(&file);
    assert!(width > 3 * 48 && height > 48, "three cells in a row below their lines: {width} × {height}");
}
