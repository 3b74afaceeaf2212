package form

import (
	chain "container/list"
	"errors"
	"sync"
)

// Cache keeps forms by the content of their definitions, so that one that comes
// again is not compiled again. Its methods are safe for concurrent use, and compile
// what several goroutines ask for at once only once.
type Cache struct {
	forms, size int               // at most
	adjust      func(*Definition) // nil for none

	mu    sync.Mutex // guards the fields below; never held while a form is compiled
	kept  [2]map[string]*chain.Element
	busy  [2]map[string]*compiling
	order chain.List // of *keptForm, the most recently used first
	used  int        // bytes of the definitions in kept
}

// The two ways in which bytes become a form.
const (
	parsed = iota
	lifted
)

// keptForm is a form in a [Cache].
type keptForm struct {
	way  int
	text string
	form *Form
}

// compiling is a form in the making. Its result may be read once done is closed.
type compiling struct {
	done chan struct{}
	form *Form
	err  error
}

// NewCache returns a cache for at most so many forms, and so many bytes of
// definitions. What was used least recently goes first. adjust, unless it is nil, may
// change a definition that was read before it is compiled; a form that was lifted is
// not adjusted.
func NewCache(forms, size int, adjust func(*Definition)) *Cache {
	c := &Cache{forms: forms, size: size, adjust: adjust}
	for way := range c.kept {
		c.kept[way] = make(map[string]*chain.Element)
		c.busy[way] = make(map[string]*compiling)
	}
	return c
}

// Parse is [Parse], or the form that it returned for these bytes before. Faults are
// not kept.
func (c *Cache) Parse(definition []byte) (*Form, error) { return c.get(parsed, definition) }

// Lift is [Lift], likewise.
func (c *Cache) Lift(requestedSchema []byte) (*Form, error) { return c.get(lifted, requestedSchema) }

func (c *Cache) get(way int, text []byte) (*Form, error) {
	c.mu.Lock()
	if e := c.kept[way][string(text)]; e != nil {
		c.order.MoveToFront(e)
		f := e.Value.(*keptForm).form
		c.mu.Unlock()
		return f, nil
	}
	if other := c.busy[way][string(text)]; other != nil {
		c.mu.Unlock()
		<-other.done
		return other.form, other.err
	}
	key := string(text)
	mine := &compiling{done: make(chan struct{}), err: errors.New("the form could not be compiled")} // should it panic
	c.busy[way][key] = mine
	c.mu.Unlock()

	defer func() {
		c.mu.Lock()
		delete(c.busy[way], key)
		if mine.form != nil {
			c.keep(way, key, mine.form)
		}
		c.mu.Unlock()
		close(mine.done)
	}()
	mine.form, mine.err = c.compile(way, text)
	return mine.form, mine.err
}

func (c *Cache) compile(way int, text []byte) (*Form, error) {
	if way == lifted {
		return Lift(text)
	}
	return parse(text, c.adjust)
}

// keep keeps a form, and forgets others while there are too many. One that is larger
// than the cache is not kept. c.mu is held.
func (c *Cache) keep(way int, text string, f *Form) {
	if len(text) > c.size || c.forms <= 0 {
		return
	}
	c.kept[way][text] = c.order.PushFront(&keptForm{way, text, f})
	c.used += len(text)
	for c.order.Len() > c.forms || c.used > c.size {
		oldest := c.order.Remove(c.order.Back()).(*keptForm)
		delete(c.kept[oldest.way], oldest.text)
		c.used -= len(oldest.text)
	}
}
