//! What one walk over images leaves to the next.

/// Bytes that are kept.
const ROOM: usize = 1 << 30;

/// What was computed of the first images, of as many as there is room for; later walks compute only the rest.
pub(crate) struct Kept<T> {
    items: Vec<T>,
    room: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept { items: Vec::new(), room: ROOM }
    }
}

impl<T> Kept<T> {
    /// How many first images there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Adds the next image, which takes about so many bytes, unless there was no room for one before it.
    pub(crate) fn push(&mut self, item: T, bytes: usize) {
        match self.room.checked_sub(bytes) {
            Some(left) => {
                self.room = left;
                self.items.push(item);
            }
            None => self.room = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_an_item_without_room_is_not_kept() {
        let mut kept = Kept::default();
        for (item, bytes) in [(0, ROOM / 2), (1, ROOM / 4), (2, ROOM / 2), (3, 1)] {
            kept.push(item, bytes);
        }
        assert_eq!(kept.iter().copied().collect::<Vec<_>>(), [0, 1]);
    }
}
