"""One cell of the authors' RandBits notebook in Keras, for timing: run by `bench_notebook` with a Python that has TensorFlow.

    python tests/benchmarks/notebook_cell.py BITS STEPS

Prints seconds a step. Random pixels: only the time counts. The recipe is that of google-research/simclr,
colabs/intriguing_properties/randbits_mnist.ipynb, written anew.
"""

import sys
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BITS, STEPS = int(sys.argv[1]), int(sys.argv[2])
BATCH, TAU, L2, WARM = 1000, 0.1, tf.keras.regularizers.l2(1e-4), 3


def crop(image):
    """A crop of half the area or more, stretched back to 28 x 28 px."""
    box = tf.zeros([1, 1, 4])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.shape(image), box, 0.1, aspect_ratio_range=(3 / 4, 4 / 3), area_range=(0.5, 1.0), use_image_if_no_bounding_boxes=True
    )
    return tf.ensure_shape(tf.image.resize(tf.slice(image, begin, size), (28, 28)), (28, 28, 1))


def views(image, label):
    """Two crops with the same bits, a hash of the image's JPEG."""
    code = tf.cast(tf.strings.to_hash_bucket_fast(tf.io.encode_jpeg(image), 2**BITS), tf.int32)
    bits = tf.cast(tf.bitwise.bitwise_and(tf.bitwise.right_shift(code, tf.range(BITS)), 1), tf.float32)
    image, planes = tf.cast(image, tf.float32) / 255, tf.broadcast_to(bits, (28, 28, BITS))
    return tf.concat([crop(image), planes], -1), tf.concat([crop(image), planes], -1), label


def block(layer) -> list:
    """A layer with batch norm and ReLU."""
    return [layer, layers.BatchNormalization(), layers.ReLU()]


convolutions = [layers.Conv2D(filters, 3, 2, use_bias=False, kernel_regularizer=L2) for filters in (32, 64, 64)]
dense = [layers.Dense(128, use_bias=False, kernel_regularizer=L2), layers.Dense(256, use_bias=False, kernel_regularizer=L2)]
encoder = tf.keras.Sequential([*(part for layer in convolutions for part in block(layer)), layers.Flatten(), *block(dense[0])])
head = tf.keras.Sequential([*block(dense[1]), layers.Dense(64, use_bias=False, kernel_regularizer=L2)])
probe = layers.Dense(10, kernel_regularizer=L2)
for model, shape in ((encoder, (None, 28, 28, 1 + BITS)), (head, (None, 128)), (probe, (None, 128))):
    model.build(shape)
models = (encoder, head, probe)
weights = [weight for model in models for weight in model.trainable_variables]
optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.PolynomialDecay(1e-3, 600, 0.0))
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(a, b, labels):
    """One update; the two views pass the encoder one after the other."""
    with tf.GradientTape() as tape:
        h = [encoder(view, training=True) for view in (a, b)]
        z = [tf.math.l2_normalize(head(rows, training=True), -1) for rows in h]
        logits, places = tf.matmul(z[0], z[1], transpose_b=True) / TAU, tf.range(BATCH)
        loss = cross_entropy(places, logits) + cross_entropy(places, tf.transpose(logits))
        loss += cross_entropy(labels, probe(tf.stop_gradient(h[0]))) + sum(sum(model.losses) for model in models)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


pixels = np.random.default_rng(0).integers(0, 255, (60_000, 28, 28, 1), np.uint8)
data = tf.data.Dataset.from_tensor_slices((pixels, np.arange(60_000) % 10)).map(views, num_parallel_calls=tf.data.AUTOTUNE)
batches = iter(data.repeat().batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
for _ in range(WARM):
    float(step(*next(batches)))
began = time.perf_counter()
for _ in range(STEPS):
    last = step(*next(batches))
float(last)
print((time.perf_counter() - began) / STEPS)
