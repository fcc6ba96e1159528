"""One cell of the authors' RandBits notebook in Keras; needs a Python that has TensorFlow.

    python tests/benchmarks/notebook_cell.py BITS --steps 40            prints seconds a step; run by `bench_notebook`
    python tests/benchmarks/notebook_cell.py BITS --mnist FOLDER        prints the online probe's test accuracy after 600 steps

FOLDER holds MNIST's four files, unpacked; without it, pixels are random and only the time counts. The recipe is that of
google-research/simclr, colabs/intriguing_properties/randbits_mnist.ipynb, written anew.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bits", type=int)
parser.add_argument("--tau", type=float, default=0.1)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=600)
parser.add_argument("--mnist", type=Path)
asked = parser.parse_args()
BITS, TAU, BATCH, L2, WARM = asked.bits, asked.tau, 1000, tf.keras.regularizers.l2(1e-4), 3
tf.random.set_seed(asked.seed)


def crop(image, view):
    """A crop of half the area or more, stretched back to 28 x 28 px. Without a seed of its own both views get the same crop."""
    box = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.shape(image),
        box,
        seed=1 + 2 * asked.seed + view,
        min_object_covered=0.1,
        aspect_ratio_range=(3 / 4, 4 / 3),
        area_range=(0.5, 1.0),
    )
    return tf.ensure_shape(tf.image.resize(tf.slice(image, begin, size), (28, 28)), (28, 28, 1))


def planes(image):
    """The bits of an image, a hash of its JPEG, as channels."""
    code = tf.cast(tf.strings.to_hash_bucket_fast(tf.io.encode_jpeg(image), 2**BITS), tf.int32)
    bits = tf.cast(tf.bitwise.bitwise_and(tf.bitwise.right_shift(code, tf.range(BITS)), 1), tf.float32)
    return tf.broadcast_to(bits, (28, 28, BITS))


def views(image, label):
    """Two crops with the same bits."""
    pixels, code = tf.cast(image, tf.float32) / 255, planes(image)
    return tf.concat([crop(pixels, 0), code], -1), tf.concat([crop(pixels, 1), code], -1), label


def plain(image, label):
    """The whole image with its bits."""
    return tf.concat([tf.cast(image, tf.float32) / 255, planes(image)], -1), label


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


def digits(name: str) -> tuple:
    """Images and labels of MNIST, "train" or "t10k"."""
    files = (asked.mnist / f"{name}-images-idx3-ubyte", asked.mnist / f"{name}-labels-idx1-ubyte")
    pixels, labels = (np.frombuffer(file.read_bytes(), np.uint8) for file in files)
    return pixels[16:].reshape(-1, 28, 28, 1), labels[8:].astype(np.int64)


made_up = np.random.default_rng(0).integers(0, 255, (60_000, 28, 28, 1), np.uint8), np.arange(60_000) % 10
data = tf.data.Dataset.from_tensor_slices(digits("train") if asked.mnist else made_up)
batches = iter(
    data.map(views, num_parallel_calls=tf.data.AUTOTUNE).repeat().batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
)
warm = 0 if asked.mnist else WARM
for _ in range(warm):
    float(step(*next(batches)))
began = time.perf_counter()
for _ in range(asked.steps):
    last = step(*next(batches))
float(last)
if asked.mnist:
    tests = tf.data.Dataset.from_tensor_slices(digits("t10k")).map(plain).batch(BATCH)
    print(np.mean(np.concatenate([probe(encoder(rows, training=False)).numpy().argmax(1) == labels for rows, labels in tests])))
else:
    print((time.perf_counter() - began) / asked.steps)
