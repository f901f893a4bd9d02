//! Would a monitor notice: campaigns, cells, suites, calibration, and the report of them.
//!
//! | file             | content                                                            |
//! |------------------|--------------------------------------------------------------------|
//! | [`campaign`]     | what is asked for                                                  |
//! | [`cells`]        | the work, cell by cell                                             |
//! | [`run`]          | the same from beginning to end                                     |
//! | [`results`]      | what comes of it                                                   |
//! | [`report`]       | the same as a page                                                 |
//! | [`suite`]        | campaigns that travel with the program                             |
//! | [`ood_rl`]       | the benchmark of policies' own disagreement                        |
//! | [`calibrate`]    | how strong an anomaly must be                                      |
//! | [`schedule`]     | the cells for another scheduler                                    |
//! | [`images`]       | what only image detectors need                                     |
//! | [`metrics_file`] | scores from anywhere, judged                                       |

pub mod calibrate;
pub mod campaign;
pub mod cells;
pub mod equivalents;
pub mod images;
pub mod metrics_file;
pub mod ood_rl;
pub mod report;
pub mod results;
pub mod run;
pub mod schedule;
pub mod suite;
