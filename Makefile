# Two commands set everything up on a fresh Debian machine with Go and Node:
#   make demo    the main job, with embedded defaults
#   make test    every test; it fetches what it needs
.PHONY: build demo test check bench bench-eras fuzz clean node-modules check-e2e test-e2e test-e2e-direct

demo: build ## a server asks, a person answers; nothing to set up
	./bin/beckon demo

test: check check-e2e test-plain test-e2e ## every test

build: ## bin/beckon, static
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/beckon ./cmd/beckon

check: ## the fast local gate
	@out=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); if [ -n "$$out" ]; then echo "gofmt: $$out"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	go fix -diff ./...
	go test -race -shuffle=on ./...

test-plain: ## what the race detector would change: allocation budgets, and the demo as people run it
	go test -count=1 ./form/... ./internal/wire ./internal/front ./internal/input
	$(MAKE) build
	./bin/beckon demo --once

bench: build ## benchmarks, with bench-eras; compare the ratios, machines differ
	go test -run '^$$' -bench . -benchmem ./form ./internal/wire ./internal/input ./internal/gateway
	go run ./internal/e2e/relaybench -beckon bin/beckon

bench-eras: build ## what the modern era costs: the four pairings, and 10,000 parked calls
	go run ./internal/e2e/relaybench -beckon bin/beckon -only eras,parked

FUZZTIME ?= 30s

fuzz: ## each fuzz target for FUZZTIME
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z]+' form internal | sort | while IFS=: read -r file target; do \
		pkg=./$$(dirname $$file); target=$${target#func }; echo "$$pkg $$target"; \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$pkg </dev/null || exit 1; \
	done

clean:
	rm -rf bin out

# The end-to-end tests: real clients, real servers and the official conformance
# suite, none of them ours (internal/e2e).
e2e_node := internal/e2e/node
e2e_test := go test -tags e2e -race -count=1 -timeout 20m

node-modules: $(e2e_node)/node_modules/.stamp ## the npm peers and their Node, by lock file

$(e2e_node)/node_modules/.stamp: $(e2e_node)/package-lock.json $(e2e_node)/.npmrc
	cd $(e2e_node) && npm ci
	touch $@

test-e2e: node-modules ## every peer, directly and through Beckon
	$(e2e_test) ./internal/e2e/...

test-e2e-direct: node-modules ## every peer without Beckon: are the peers in order?
	$(e2e_test) -run 'Direct$$' ./internal/e2e/...

check-e2e: ## the fast gate for what only the build tag shows
	go vet -tags e2e ./internal/e2e/...
	go tool staticcheck -tags e2e ./internal/e2e/...
	go fix -tags e2e -diff ./internal/e2e/...
