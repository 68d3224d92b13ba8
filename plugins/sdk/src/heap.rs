//! The heap of a plugin. A call has a fresh instance, so memory need not be given back to anyone, only used again.
//!
//! The allocator that Rust brings along leaves the memory that an instance begins with alone and asks for more, which
//! costs the host two changes of the address space in every call. This one takes what is there first.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::cell::UnsafeCell;
use core::ptr;

/// WebAssembly's unit of memory.
const PAGE_BYTES: usize = 64 << 10;

/// The least that the memory grows by, once the beginning is used up.
const GROWTH_PAGES: usize = 4;

/// Every block begins at a multiple of this, and so does its size.
const GRAIN: usize = 16;

/// Sizes of blocks: multiples of the grain up to four of them, then four steps to every doubling.
const CLASSES: usize = 112;

unsafe extern "C" {
    /// Where the linker's own data ends.
    static __heap_base: u8;
}

/// The heap; named by [`crate::heap!`].
pub struct Heap(UnsafeCell<Inner>);

struct Inner {
    next: usize,
    end: usize,
    /// The last freed block of each size; each block holds the address of the one freed before it.
    free: [usize; CLASSES],
}

impl Heap {
    /// A heap that has given nothing yet.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(Inner { next: 0, end: 0, free: [0; CLASSES] }))
    }
}

// SAFETY: a plugin has one thread.
unsafe impl Sync for Heap {}

// SAFETY: a block is given to one owner at a time: from the unused rest, or from the list of those of its very size.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let inner = unsafe { &mut *self.0.get() };
        let Some((class, bytes)) = class(layout.size()) else { return ptr::null_mut() };
        let freed = inner.free[class];
        if freed != 0 && layout.align() <= GRAIN {
            inner.free[class] = unsafe { *(freed as *const usize) };
            return freed as *mut u8;
        }
        inner.take(bytes, layout.align().max(GRAIN))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let inner = unsafe { &mut *self.0.get() };
        let Some((class, bytes)) = class(layout.size()) else { return };
        if block as usize + bytes == inner.next {
            inner.next = block as usize;
            return;
        }
        unsafe { *block.cast::<usize>() = inner.free[class] };
        inner.free[class] = block as usize;
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let inner = unsafe { &mut *self.0.get() };
        let (Some((_, old)), Some((_, new))) = (class(layout.size()), class(size)) else {
            return ptr::null_mut();
        };
        if old == new {
            return block;
        }
        // The last block may stretch or shrink where it is: text that is being written usually is the last.
        if block as usize + old == inner.next {
            inner.next = block as usize;
            let stretched = inner.take(new, GRAIN);
            if stretched.is_null() {
                inner.next += old;
            }
            return stretched;
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return ptr::null_mut() };
        let moved = unsafe { self.alloc(wanted) };
        if !moved.is_null() {
            unsafe {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
        }
        moved
    }
}

impl Inner {
    /// A block from the unused rest, which grows if it is too small.
    fn take(&mut self, bytes: usize, align: usize) -> *mut u8 {
        if self.end == 0 {
            self.next = (&raw const __heap_base as usize).next_multiple_of(GRAIN);
            self.end = wasm32::memory_size(0) * PAGE_BYTES;
        }
        let block = self.next.next_multiple_of(align);
        let Some(after) = block.checked_add(bytes) else { return ptr::null_mut() };
        if after > self.end {
            let pages = (after - self.end).div_ceil(PAGE_BYTES).max(GROWTH_PAGES);
            let before = wasm32::memory_grow(0, pages);
            if before == usize::MAX {
                return ptr::null_mut();
            }
            self.end = (before + pages).saturating_mul(PAGE_BYTES);
        }
        self.next = after;
        block as *mut u8
    }
}

/// The list that blocks for so many bytes are kept in, and the size of each of them; none for more than can be.
fn class(bytes: usize) -> Option<(usize, usize)> {
    if bytes > 1 << 30 {
        return None;
    }
    let last = bytes.max(1) - 1;
    if last < 4 * GRAIN {
        return Some((last / GRAIN, (last / GRAIN + 1) * GRAIN));
    }
    let doubling = last.ilog2() as usize;
    let quarter = last >> (doubling - 2);
    Some(((doubling - 6) * 4 + quarter, (quarter + 1) << (doubling - 2)))
}
