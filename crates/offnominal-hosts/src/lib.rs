//! Processes of others: environments of Gymnasium, and policies in Python, in other programs and on servers.
//!
//! | file         | content                                                          |
//! |--------------|------------------------------------------------------------------|
//! | [`foreign`]  | environments of Gymnasium, in processes of their own             |
//! | [`remote`]   | policies of other processes and of servers                       |

pub mod foreign;
pub mod remote;
