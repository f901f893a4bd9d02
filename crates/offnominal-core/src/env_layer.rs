//! An environment around another one: a layer names what is inside and says what it does differently; everything else
//! is answered by what is inside.

use crate::Rng;
use crate::env::{Env, Step};
use crate::failure_search::FailureSearch;
use crate::frame::{Camera, Frame};
use crate::noisy::NoiseNumbers;
use crate::policy::Seat;
use crate::spec::{EnvSpec, ParameterError};
use std::sync::Arc;

/// Each method is written once: a layer forwards it to what is inside, and as an environment it answers as the layer.
macro_rules! env_layer {
    (
        read { $($ask:ident($($a:ident: $asked:ty),*) -> $answer:ty;)* }
        write { $($tell:ident($($t:ident: $told:ty),*) -> $result:ty;)* }
    ) => {
        /// A layer around an environment, which makes it an [`Env`].
        ///
        /// There is one method for each thing that an environment can do in several ways, so that no layer changes one of
        /// them and forgets the others: [`set_parameters`](EnvLayer::set_parameters) is asked for single parameters too,
        /// and [`around`](EnvLayer::around) for copies and for the only one of its kind.
        pub trait EnvLayer: Send + Sync {
            /// What is inside.
            fn inner(&self) -> &dyn Env;

            /// What is inside, to be changed.
            fn inner_mut(&mut self) -> &mut dyn Env;

            /// The same layer at the same place of its episode, around a copy of what is inside; `None` if it cannot be
            /// copied.
            fn around<'e>(&self, inner: Box<dyn Env + 'e>) -> Option<Box<dyn Env + 'e>>;

            /// [`Env::play_ahead`], which is not passed on by default: a layer may change what the policy reads or commands.
            fn play_ahead(&mut self, _seat: &Seat, _steps: u32) {}

            $(
                #[doc = concat!("[`Env::", stringify!($ask), "`] of what is inside.")]
                fn $ask(&self, $($a: $asked),*) -> $answer {
                    self.inner().$ask($($a),*)
                }
            )*
            $(
                #[doc = concat!("[`Env::", stringify!($tell), "`] of what is inside.")]
                fn $tell(&mut self, $($t: $told),*) -> $result {
                    self.inner_mut().$tell($($t),*)
                }
            )*
        }

        impl<L: EnvLayer> Env for L {
            fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
                EnvLayer::set_parameters(self, &[(name, value)])
            }

            fn fork(&self) -> Option<Box<dyn Env>> {
                self.around(self.inner().fork()?)
            }

            fn checkout(&self) -> Option<Box<dyn Env + '_>> {
                self.around(self.inner().checkout()?)
            }

            fn play_ahead(&mut self, seat: &Seat, steps: u32) {
                EnvLayer::play_ahead(self, seat, steps);
            }

            $(fn $ask(&self, $($a: $asked),*) -> $answer {
                EnvLayer::$ask(self, $($a),*)
            })*
            $(fn $tell(&mut self, $($t: $told),*) -> $result {
                EnvLayer::$tell(self, $($t),*)
            })*
        }
    };
}

env_layer! {
    read {
        spec() -> &EnvSpec;
        draw(rng: &mut Rng) -> Vec<f64>;
        observe(obs: &mut [f32]) -> ();
        observe_exactly(obs: &mut [f32]) -> ();
        goal_met() -> Option<bool>;
        parameter(name: &str) -> Option<f64>;
        noise_numbers() -> Option<&NoiseNumbers>;
        health() -> Result<(), String>;
        failure_search() -> &dyn FailureSearch;
    }
    write {
        start(x: &[f64], rng: &mut Rng) -> ();
        step(action: &[f32], rng: &mut Rng) -> Step;
        set_parameters(values: &[(&str, f64)]) -> Result<(), ParameterError>;
        choose_noise(numbers: &Arc<[f64]>) -> ();
        render(camera: Camera, frame: &mut Frame) -> ();
    }
}
