//! The names of the laws that everything in a catalogue obeys; the checks are in the crate `offnominal-laws`.
//!
//! An [`Entry`](crate::Entry) to which a law cannot apply names it here, with the reason, so that no program needs the
//! checks to know its catalogues.

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Law {
    /// The same seed gives the same bits.
    SameSeedSameBits,
    /// A fork has the same future as the original, and does not disturb it.
    ForkSharesFuture,
    /// Observations stay within the bounds of their channels.
    StaysInBounds,
    /// Every number is finite.
    IsFinite,
    /// No channel is constant.
    EveryChannelVaries,
    /// Different seeds start differently.
    StartVaries,
    /// Channel and parameter names are unique, nominal values lie in their ranges, and texts are not empty.
    SpecIsSound,
    /// Unknown parameters and values outside the physical range are refused, and leave the environment unchanged.
    RefusesBadParameters,
    /// Setting a parameter to its nominal value changes nothing.
    NominalIsNeutral,
    /// Setting a parameter to another value changes the future.
    ParameterBites,
    /// A parameter that is set before an episode, as a draw for it is, is the one that the environment reads back in it, and
    /// changes the episode.
    DrawArrives,
    /// An action that is a choice is rounded to the nearest one and clipped; what is no number makes the environment
    /// diverge.
    RoundsChoices,
    /// The margin is zero or less exactly where the environment has failed.
    MarginTellsFailure,
    /// Initial conditions that are made of standard normal numbers are distributed as those that are drawn.
    NormalsGiveDraws,
    /// `reset` makes a monitor forget the episode before.
    ResetForgets,
    /// Streamed scores equal those of a whole episode.
    StreamedEqualsBatch,
    /// Scores of several episodes equal those of each alone.
    TogetherEqualsAlone,
    /// A step without a gap scores the same whether the monitor is told so or not.
    WholeIsWhole,
    /// What a monitor says that it leaves out has no part in the score; what was not read at all leaves it finite.
    LeavesOut,
    /// The parts that a monitor gives to the numbers of the observation sum to the score, and to be asked changes nothing.
    SharesSum,
    /// The channel that a monitor names as evidence is the one with the largest part of the score, and to be asked changes nothing.
    EvidenceIsLargest,
    /// A channel that is constant in training changes no score.
    IgnoresConstantChannels,
    /// A gross fault scores higher than nominal data.
    SeesGrossFaults,
    /// Bad training data is refused.
    RefusesBadData,
    /// A monitor that was kept and brought back gives the same bits. One that says that it cannot be kept obeys too.
    LoadsAsSaved,
    /// Actions stay within the bounds of their channels.
    CommandsInBounds,
    /// What a policy tells about itself has the shape it declares and is finite, and the same seed gives the same bits.
    SamplesAreSound,
    /// Until the onset an anomalous episode is its nominal twin, bit for bit.
    SilentBeforeOnset,
    /// An anomaly changes only the channels it was told to change.
    TouchesOnlyChosen,
    /// Told to change one channel, an anomaly changes the same one throughout an episode, and not the same in all.
    DrawsOneChannel,
    /// An anomaly of neutral magnitude changes nothing.
    NeutralChangesNothing,
    /// An anomaly of gross magnitude changes the future.
    MagnitudeBites,
    /// When an anomaly ends, signals and parameters are nominal again.
    EndRestores,
    /// A recipe survives being written as JSON and read again.
    RecipeRoundTrips,
    /// The recorded action is the policy's own action.
    RecordsTheCommand,
    /// A step is labelled exactly if the anomaly is active in it.
    LabelsTellActivity,
}
