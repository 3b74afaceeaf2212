// Package pipenet is a network within a process, for tests: its connections are pipes,
// for which a bubble of testing/synctest can wait, as it cannot for sockets.
package pipenet

import (
	"context"
	"net"
	"sync"
)

// Net is a network with one listener, which it is itself. It has no ports: whoever dials
// reaches the listener, whatever the address. Its methods are safe for concurrent use.
type Net struct {
	conns chan net.Conn
	once  sync.Once // closes done
	done  chan struct{}
}

// New returns a network without connections.
func New() *Net { return &Net{conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial connects to the listener. It waits until that accepts, or is closed.
func (n *Net) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	if err := n.Hand(ctx, b); err != nil {
		return nil, err
	}
	return a, nil
}

// Hand gives the listener a connection that was made elsewhere. It waits as Dial does.
func (n *Net) Hand(ctx context.Context, conn net.Conn) error {
	select {
	case n.conns <- conn:
		return nil
	case <-n.done:
		return net.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Accept returns the next connection.
func (n *Net) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close ends the listener. Connections stay as they are.
func (n *Net) Close() error {
	n.once.Do(func() { close(n.done) })
	return nil
}

// Addr is the address of the listener, which says nothing.
func (n *Net) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "pipe" }
func (addr) String() string  { return "pipe" }
