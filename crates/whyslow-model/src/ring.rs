//! A queue of items that come and go in order, each known by its number among all that ever came.
//! Its slot is its number's last bits, so that nothing is moved or computed when one comes or goes.

#[derive(Debug)]
pub(super) struct Ring<T> {
    /// A power of two.
    slots: Vec<T>,
    /// Numbers of the first, and of the next to come.
    first: usize,
    end: usize,
}

/// Maximum number of slots at the start.
const MANY: usize = 1024;

impl<T: Copy + Default> Ring<T> {
    /// For `number` at a time or more.
    pub(super) fn new(number: u64) -> Self {
        let slots = usize::try_from(number).map_or(MANY, |number| number.clamp(1, MANY)).next_power_of_two();
        Self { slots: vec![T::default(); slots], first: 0, end: 0 }
    }

    /// How many have come.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    #[inline]
    pub(super) fn push(&mut self, what: T) {
        if self.end - self.first == self.slots.len() {
            self.widen();
        }
        let at = self.end & (self.slots.len() - 1);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = what;
            self.end += 1;
        }
    }

    /// With twice as many places a number's is its old one, or that and the old length.
    #[cold]
    fn widen(&mut self) {
        let mut slots = Vec::with_capacity(2 * self.slots.len());
        slots.extend_from_slice(&self.slots);
        slots.extend_from_slice(&self.slots);
        self.slots = slots;
    }

    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&T> {
        self.holds(number).then(|| self.slots.get(number & (self.slots.len() - 1)))?
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        let at = number & (self.slots.len() - 1);
        if self.holds(number) { self.slots.get_mut(at) } else { None }
    }

    #[inline]
    fn holds(&self, number: usize) -> bool {
        number.wrapping_sub(self.first) < self.end - self.first
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&T> {
        self.get(self.first)
    }

    pub(super) fn back(&self) -> Option<&T> {
        self.get(self.end.wrapping_sub(1))
    }

    /// The first goes.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.first += usize::from(self.first < self.end);
    }

    /// All before this number go.
    #[inline]
    pub(super) fn pop_before(&mut self, number: usize) {
        self.first = number.clamp(self.first, self.end);
    }
}

#[cfg(test)]
mod tests;
