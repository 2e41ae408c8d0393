/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "feed.h"

static Feed make_feed(const Session* session, const Options* options, const Corpus* corpus) {
  return (Feed){.corpus = corpus, .options = options, .shard = session->data_shard, .shards = session->data_shards};
}

Feed feed_step(const Session* session, const Options* options, const Corpus* corpus, int64_t step) {
  Feed feed = make_feed(session, options, corpus);
  feed.training = 1;
  feed.step = step;
  return feed;
}

Feed feed_held_out(const Session* session, const Options* options, const Corpus* corpus, int64_t first) {
  Feed feed = make_feed(session, options, corpus);
  feed.first = first;
  return feed;
}

int64_t feed_count_held_out(const Options* options, const Corpus* corpus) {
  return (batch_count_windows(corpus, options->sequence) + options->sequences - 1) / options->sequences;
}

static int64_t unit_of(const Feed* feed, int64_t microbatch) {
  return feed->first + microbatch * feed->shards + feed->shard;
}

int64_t feed_count_sequences(const Feed* feed, int64_t microbatch) {
  const int64_t most = feed->options->sequences;
  if (feed->training) return most;
  const int64_t windows = batch_count_windows(feed->corpus, feed->options->sequence);
  const int64_t left = windows - unit_of(feed, microbatch) * most;
  return left < 0 ? 0 : left < most ? left : most;
}

void feed_fill(const Feed* feed, int64_t microbatch, Batch* batch) {
  const int64_t unit = unit_of(feed, microbatch);
  const int64_t sequences = feed_count_sequences(feed, microbatch);
  if (feed->training)
    batch_draw_piece(batch, feed->corpus, sequences, feed->options->seed, feed->step, unit);
  else
    batch_take_windows(batch, feed->corpus, unit * feed->options->sequences, sequences);
}
