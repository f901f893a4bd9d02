//! The sentences of the page.

pub(super) const HEAD: &str = "\
# OOD detection from inside the policy

Does a policy notice by itself that the environment has changed?
Policies that disagree with themselves play in variants of the environment they were trained in, and their disagreement must tell the steps there from nominal ones.
The protocol is that of Mohammed and Valdenegro-Toro, *Benchmark for Out-of-Distribution Detection in Deep Reinforcement Learning* (2021), whose numbers stand beside ours.

**What to do.** If nominal episodes can be recorded, do not rely on the policy's own doubt: detectors that learn how the environment moves (`ensemble-dm`), or where it was (`knn`), tell the variants better on the same episodes ([table](#other-detectors-on-the-same-episodes)).
If there is only the policy: with commands that end in tanh (DDPG, SAC) take the deviation before tanh, `raw-sd`, which is what the detector `disagreement` takes there by itself; with values of choices take `relative-sd` of several passes, or `centred-sd` or `mutual-information` of an ensemble ([table](#other-measures-of-the-same-predictions)); with images the published deviation, `mean-sd`, or `centred-sd` of an ensemble.
Do not wait for it where images get worse little by little: a policy loses its games to corruptions that its disagreement does not tell yet ([milder disturbances](#milder-disturbances)). There the `entropy` of its choices tells more, and of policies that learned from corrupted images too it also tells more where they collapse; but where a policy that knows clean images only collapses, `entropy` is worse than chance.

`offnominal bench --suite ood-rl --out results/ood-rl` makes every number on this page, and the same with `--page docs/ood-rl.md` the page; finished policies are not played again.
`results/ood-rl/results.parquet` has all of them, with intervals, counts and returns.

The publication leaves open how a policy is judged to fail, how deviations become a score, how steps are pooled, and all hyper-parameters. Here:

- A policy plays 20 nominal episodes and 20 in each variant (5 of pong, which are long), with exploration off and commands that are the mean of five predictions. The variant is there from the first step.
- It *fails* in a variant where its mean return is below what counts as solved: 475 in cartpole, −200 in pendulum, more points than the opponent in pong.
- The score of a step is the mean over the actions of the standard deviation (n − 1) of the five predictions: values of choices, or commands. Other measures stand below.
- The AUROC pools all steps: those in the variant are positive, nominal ones negative. Intervals resample whole episodes (95 %, 200 replicates).
- *At equal times* compares the i-th episode in the variant with the i-th nominal one as long as both last, so that a clock scores one half.
- ± is the sample standard deviation (n − 1) over trials: policies trained with different seeds.

![The image that a policy of pong reads, in four rows: nominal, then at severities 1 to 5, with gaussian noise, impulse noise, motion blur, and as coarse pixels](images/pong.png)

The corruptions of pong, each at the severities 1 to 5: the newest of the four images that a policy reads (`offnominal sheet --env pong --policy random --view observation --anomaly img-gaussian-noise,img-impulse-noise,img-motion-blur,img-pixelate --magnitude 1,2,3,4,5 --step 40 --seed 1 --file docs/images/pong.png`).
";

pub(super) const AGENTS: &str = "\
## The policies

`python3 agents/ood-rl/train.py target/release/offnominal` trains them: DQN in cartpole and pong, DDPG in pendulum.
In cartpole and pendulum all have two hidden layers of 64.
Rewards of cartpole are multiplied by 0.02 for training. Values are then near one, and their constant part fits into the bias of the output, which nothing drops; with values near a hundred the noise of dropped units hides which choice is better, and neither dropout nor DropConnect learned to balance.
DropConnect keeps the weights of the layer that reads the observation, where another hidden layer follows, and those of the output.
DropConnect draws a mask for every four rows of a batch.

The members of a *prior ensemble*, which the publication does not have, carry beside the network that learns a fixed random one (`prior`; Osband et al. 2018): where there was nothing to learn they go on to differ.

Policies of pong see through three layers of convolutions (6 × 6 / 6 × 16, 4 × 4 / 2 × 32, 3 × 3 / 1 × 32) before one hidden layer of 128, which alone drops anything.
The mean image is taken out of what they see, so that field and walls do not drown the ball.
They learn from rewards and from a player that follows the ball (`--policy scripted`, which wins by about ten points): that one plays the first 4,000 of 24,000 steps, is asked what it would do wherever the policy has been, and its choice shall exceed the others in value by a margin (the large-margin loss of Hester et al. 2018). So values are not those of rewards alone: the margin lifts them.
From rewards alone DQN was still at −14 after 60,000 steps in the environment. Random choices make −17.

`ale-pong` is the game of the Arcade Learning Environment itself, shown in the same way (`offnominal.atari`); the suite plays policies of it, `ale-pong-dropout-1.safetensors` and so on, where they are found and Python has `offnominal`, ale-py and OpenCV; it is left out, and named, where they are missing.
Its paddle slides on after a move and comes to rest at few places, while only shots from its ends beat the opponent. The player that the policy learns from, `offnominal.atari.intercept`, therefore plans moves with a model of the paddle.
It takes more steps than ours: after 60,000, over which the learning rate falls to nothing, the policy lost by 2.5 points in the two games of that run's last evaluation, and wins by those below after 90,000 more, for which it begins again with 0.6 of the first rate (`offnominal train --env \"gymnasium:offnominal.atari:pong?horizon=3000\" --preset pong --set dropout=0.1 --set demonstrations=10000 --steps 60000 --eval-every 20000 --demonstrator offnominal.atari:intercept --seed 1`, then the same environment and run with `--resume --steps 150000`). Random choices lose by 20.4.
";

pub(super) const RETURNS: &str = "Mean return of 200 fresh episodes (40 of pong and `ale-pong`) with its interval. `seeds` are those of the training runs; an ensemble has five. Plain policies are the first members of the ensembles, for comparison.

The ensembles of cartpole are selected: those of seeds 11 to 15 and 21 to 25 were trained too and left out, because the mean of their members' values does not balance the pole although each member does. So their nominal returns are those of five chosen from seven.";

pub(super) const PROBABILITIES: &str = "\
The probability of each method was chosen by the mean nominal return of a run that serves no other purpose, the smallest of equals; variants played no part. In pong, where a run is counted over forty games, the three do not differ beyond the intervals of about ±1.3; its trials have 0.1.";

pub(super) const SUMMARY: &str = "\
## In short

Means over variants of the AUROC, per trial; then mean ± deviation over trials. Null controls change nothing, and their AUROC must be near one half.
";

pub(super) const FOUND: &str = "\
What the tables below say, and what was not expected:

- In the pendulum the published score, the deviation of commands, is worse than chance. A policy that fails there commands its bound most of the time (figure 5), where tanh makes all predictions equal. The same predictions before tanh, `raw-sd`, tell the variants well.
- In cartpole MC-DropConnect does best. Members of an ensemble differ in the level of their values, also in nominal episodes (figure 4), and this constant hides the rest; passes of one network share their level. Among members, measures of how far the choices lie apart tell more, `mutual-information` most of all, and as much does `centred-sd`: the same deviation of values less their mean over the choices.
- Fixed random networks beside the members (prior ensembles) lift the ensemble of cartpole, from below one half to the level of the other methods; in the pendulum they change nothing.
";

pub(super) const FOUND_TOO: &str = "\
- Whether policies of the publication were less settled, as their large spread over trials suggests, is [tried below](#policies-at-parts-of-their-training). It also names only the variants in which detection worked.
- Detectors that know how the environment moves (`ensemble-dm`), or merely where it was (`knn`), do better on the same episodes.
";

pub(super) const BEST: &str = "\
## Best AUROC: Tables 3 to 5

The best of the trials, in the variants that the publication names.
It is the maximum of a noisy number and rewards spread; the tables of all trials say more.
";

pub(super) const OWN_BEST: &str = "Among the variants in which all trials fail.";

pub(super) const TRIALS: &str = "\
## All trials: Tables 6 to 19

In brackets: the policy does not fail there, so the publication would have left the variant out.
";

pub(super) const FIGURES: &str = "\
## Figures 4 and 5

One nominal episode and one in the variant, of the trial with the best AUROC. The level is the threshold with the largest difference of true and false positive rates (Youden) over all steps of the trial.
";

pub(super) const MEASURES: &str = "\
## Other measures of the same predictions

Mean AUROC over the variants in which the policy fails, then mean ± deviation over trials; in brackets how many of them have been judged by the measure, where that is not all. `docs/detectors.md` defines the measures.
";

pub(super) const OTHERS: &str = "\
## Other detectors on the same episodes

The first ensemble of each environment; mean AUROC over the variants in which it fails. They are fitted on 20 further nominal episodes.
`clock` and `random` know nothing: where a clock is far from one half, the pooled AUROC measures how long episodes last, and the column at equal times is the one to read.
";

pub(super) const ALL: &str = "\
## Every variant

AUROC, mean ± deviation over trials.
";

pub(super) const DIFFERENCES: &str = "
## What differs from the publication

- The publication has five trials of each method; here there are as many as the tables show.
- Network sizes, learning rates, exploration and probabilities are ours; the publication gives none.
- The dynamics are those of Gymnasium today. The pendulum's velocity is clipped before the position moves; releases of Gym before September 2021 clipped it afterwards (`integrator = legacy` of the environment).
- Derived constants of cartpole follow a changed mass or length. In Gym they are computed once, so a changed cart mass alone would change nothing.
- Means and deviations of the published columns are computed from the five printed trials; in nine of them they differ from the printed mean by .001, as rounding gives it.
- A pendulum whose torque limit is above 2 N m behaves as the original, because the policy's commands end at ±2; we count these four variants as null.
- Milder corruptions, augmented policies and prior ensembles are ours and stand apart; no number that stands beside one of the publication has to do with them.
- Which of our numbers agree with the published ones may be luck as much as skill: policies differ, and the publication reports the variants it chose.
";

pub(super) const MILDER_NOTE: &str = "\
## Milder disturbances

The publication has none of what follows. Below severity 1 an image is mixed with its corruption of severity 1: at .25 a quarter of every pixel is corrupted.
Points are the mean return of five games in each of the four corruptions, and the AUROC is that of the published measure, `mean-sd`; both are means over pairs of a policy and one of the corruptions, with 95 % intervals (Student's, over pairs; those of one policy depend on one another).
";

pub(super) const CLASSES_NOTE: &str = "\
### What each measure tells of a policy that fails partly

AUROC of each measure by what the policy still does in the variant, over all severities: its mean return is within three points of that at home, which is about what five games leave open; it is worse, and not below 0; it is below 0, and not below −10; or below −10. Means over pairs of policy and corruption with 95 % intervals, as above. The first line counts variants and the policies that they are of.
";

pub(super) const AUGMENTED_NOTE: &str = "\
*Augmented* policies differ in what they learn from: every other observation of a batch is shown to the learner with one of the four corruptions, at a severity drawn uniformly from 0 to 2 (`augment`; data augmentation, Laskin et al. 2020). The games that they play in training, and the player whom they ask, see clean images. Their weights are stored with the eleven significant bits of half precision.
";

pub(super) const SETTLED: &str = "\
## Policies at parts of their training

Policies with MC-Dropout of the suite's recipes and probabilities, as they were after a quarter, half and all of their steps, judged by the published measure: mean ± deviation over three trials, the AUROC over the variants in which a policy fails.
After all of their steps they are those of the last step, where the suite has the best of those that were evaluated.
`python3 agents/ood-rl/settled.py target/release/offnominal` makes the table.
";
