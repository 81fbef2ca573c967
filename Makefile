# Everything goes through scripts/, which install what is missing and ask nothing.
.PHONY: demo test test-nightly check test-all-mpis fuzz mutations bench bundle horovod torch build lint format setup clean

demo:
	@scripts/setup.sh demo
	@scripts/build.sh
	@scripts/demo.sh

test:
	@scripts/test.sh

test-nightly:
	@scripts/test.sh night

check:
	@scripts/check.sh

test-all-mpis:
	@scripts/setup.sh test
	@scripts/test_all_mpis.sh

fuzz:
	@scripts/setup.sh test
	@scripts/build.sh
	@scripts/fuzz.sh

mutations:
	@scripts/setup.sh test
	@scripts/build.sh
	@scripts/mutations.sh

bench:
	@scripts/setup.sh build
	@scripts/build.sh
	@scripts/bench.sh

bundle:
	@scripts/setup.sh test
	@scripts/bundle.sh

horovod:
	@scripts/setup.sh build
	@scripts/build.sh
	@scripts/horovod.sh

torch:
	@scripts/setup.sh build
	@scripts/build.sh
	@scripts/torch.sh

build:
	@scripts/setup.sh build
	@scripts/build.sh

setup:
	@scripts/setup.sh test

lint:
	@scripts/setup.sh test
	@scripts/lint.sh

format:
	@scripts/setup.sh test
	@scripts/lint.sh --fix

clean:
	rm -rf build build-*
