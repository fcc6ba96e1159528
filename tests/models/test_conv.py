"""ConvN against the layer sizes of the authors' notebook."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.datasets.randbit import append_planes
from core.models import ConvN, build_decoder, build_encoder, build_head, conv, count_parameters, encode
from core.models.conv import ProductConv2d, conv_output_size
from core.training import RunSpec


def test_layer_sizes_of_the_notebook():
    """28 -> 13 -> 6 -> 2, flattened to 256, dense 128; counted by hand: conv 288 + 18,432 + 36,864, dense 32,768, norms."""
    encoder = ConvN()
    assert [conv_output_size(size) for size in (28, 15, 14)] == [2, 1, 0]
    sizes = []
    x = torch.rand(4, 1, 28, 28)
    for layer in encoder.convolutions:
        x = layer(x)
        sizes.append(tuple(x.shape[1:]))
    assert sizes[::3] == [(32, 13, 13), (64, 6, 6), (64, 2, 2)]
    assert encoder.dense[0].in_features == 256
    assert count_parameters(encoder) == 288 + 18_432 + 36_864 + 32_768 + 2 * (32 + 64 + 64 + 128)


@pytest.mark.parametrize(("side", "k", "stride"), [(6, 3, 2), (7, 3, 2), (3, 3, 2), (7, 5, 1), (6, 2, 2), (14, 3, 2), (15, 3, 2)])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("at_once", [1, 2**18])
def test_gradients_as_products(side, k, stride, layout, at_once, monkeypatch):
    """Value and both gradients equal the library's, with few windows and many, all pictures at once and one by one."""
    monkeypatch.setattr(conv, "CACHED_VALUES", at_once)
    ours = ProductConv2d(4, 5, k, stride).double()
    theirs = torch.nn.Conv2d(4, 5, k, stride, bias=False).double()
    theirs.load_state_dict(ours.state_dict())
    x = torch.rand(3, 4, side, side, dtype=torch.float64).contiguous(memory_format=layout).requires_grad_()
    results = []
    for convolution in (ours, theirs):
        y = convolution(x)
        results.append((y, *torch.autograd.grad(y.sin().sum(), (x, convolution.weight))))
    for mine, library in zip(*results, strict=True):
        assert mine.shape == library.shape
        torch.testing.assert_close(mine, library)


def test_no_pictures_have_no_gradient():
    layer = ProductConv2d(4, 5, 3, 2)
    layer(torch.rand(0, 4, 6, 6)).sum().backward()
    assert layer.weight.grad.abs().sum() == 0


def test_gradients_that_nobody_wants_are_not_computed(monkeypatch):
    """A frozen encoder asked for the gradient of its input, and a first layer that needs none."""
    monkeypatch.setattr(conv, "weight_gradient", lambda *_: pytest.fail("the weight is frozen"))
    frozen = ProductConv2d(4, 5, 3, 2).requires_grad_(False)
    x = torch.rand(2, 4, 6, 6, requires_grad=True)
    frozen(x).sum().backward()
    assert x.grad is not None
    monkeypatch.undo()
    monkeypatch.setattr(conv, "input_gradient", lambda *_: pytest.fail("nobody asked about the input"))
    layer = ProductConv2d(4, 5, 3, 2)
    layer(x.detach()).sum().backward()
    assert layer.weight.grad is not None


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("channels", [1, 3, 23])
def test_shapes(width, channels):
    encoder = build_encoder(RunSpec(width=width), channels, 32)
    assert encoder(torch.rand(3, channels, 32, 32)).shape == (3, 128 * width) == (3, encoder.h_dim)


def test_images_too_small_are_refused_with_the_size_that_works():
    with pytest.raises(
        ValueError, match=r"image_size: the conv encoder needs at least 15 pixels a side, the images have 8\. Set image_size"
    ):
        build_encoder(RunSpec(), 1, 8)


@pytest.mark.parametrize(
    ("stem", "side", "kernel", "stride", "maps"),
    [("auto", 32, 3, 1, 4), ("auto", 96, 7, 2, 3), ("cifar", 96, 3, 1, 12), ("imagenet", 32, 7, 2, 1)],
)
def test_resnet_stem_follows_the_image_size(stem, side, kernel, stride, maps):
    encoder = build_encoder(RunSpec(encoder="resnet18", stem=stem, bits=2, bn_eps=1e-3), 5, side)
    assert encoder.net.conv1.kernel_size == (kernel, kernel) and encoder.net.conv1.stride == (stride, stride)
    assert encoder.net.conv1.in_channels == 5
    features = encoder.net.forward_features(torch.rand(2, 5, side, side))
    assert features.shape == (2, 512, maps, maps)
    assert encoder.net.bn1.eps == 1e-3
    assert encoder(torch.rand(2, 5, side, side)).shape == (2, encoder.h_dim)


@pytest.mark.parametrize("norm", ["hidden", "all", "none"])
@pytest.mark.parametrize("layers", [0, 1, 2, 3, 4])
def test_heads(layers, norm):
    head = build_head(RunSpec(head_layers=layers, head_norm=norm, head_dim=16), 128)
    kinds = [type(module).__name__ for module in head.modules()]
    assert kinds.count("Linear") == layers
    assert kinds.count("ReLU") == max(0, layers - 1)
    assert kinds.count("BatchNorm1d") == {"hidden": max(0, layers - 1), "all": layers, "none": 0}[norm]
    z = head(torch.rand(5, 128))
    assert z.shape == (5, head.z_dim) == (5, 16 if layers else 128)


def test_default_head_is_the_notebooks():
    head = build_head(RunSpec(), 128)
    assert head[0].out_features == 256 and head[3].out_features == 64 and head[3].bias is None


@pytest.mark.parametrize("side", [4, 5, 8, 9, 15, 28, 32, 64, 96])
def test_decoder_returns_the_image_size(side):
    pictures, planes = build_decoder(128, 4, side, planes=3)(torch.rand(2, 128))
    assert pictures.shape == (2, 4, side, side) and planes.shape == (2, 3)
    assert build_decoder(128, 4, side)(torch.rand(2, 128))[1] is None


def test_decoder_reaches_every_pixel_equally():
    """Equal weights make an even picture, but for its rim: no checkerboard is built in."""
    decoder = build_decoder(8, 1, 32).eval()
    with torch.no_grad():
        for name, weight in decoder.named_parameters():
            weight.fill_(0.0 if name.endswith("bias") else 0.01)
        inside = decoder(torch.ones(1, 8))[0][0, 0, 8:-8, 8:-8]
    assert inside.min() > 0
    torch.testing.assert_close(inside, inside[0, 0].expand_as(inside))


def test_a_decoder_costs_a_few_encoders():
    """Multiplications, not time. A decoder that convolves at the full image size once made a run thirty times as long."""
    encoder, decoder = ConvN(1, 3, 32), build_decoder(128, 3, 32)
    with FlopCounterMode(display=False) as encoding:
        h = encoder(torch.rand(2, 3, 32, 32))
    with FlopCounterMode(display=False) as decoding:
        decoder(h)
    assert 0 < decoding.get_total_flops() < 5 * encoding.get_total_flops()


def test_encode_leaves_mode_and_statistics_alone():
    """Batch-norm statistics move in train mode; encode must not let them (lightly#1438)."""
    encoder, head = ConvN().train(), build_head(RunSpec(), 128).train()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    x = torch.rand(10, 1, 28, 28)
    h, z = encode(encoder, x.split(3), head)
    assert encoder.training and head.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())
    encoder.eval()
    torch.testing.assert_close(h, encoder(x).detach(), rtol=1e-5, atol=1e-5)
    assert z.shape == (10, 64)
    encoder.train()(x)
    assert not torch.equal(encoder.convolutions[1].running_mean, before["convolutions.1.running_mean"])


@pytest.mark.parametrize("name", ["conv", "resnet18"])
@pytest.mark.parametrize("channels", [1, 3])
def test_planes_are_the_same_as_appended_channels(name, channels):
    """Value and gradient: constant channels may be passed as one number per image."""
    torch.manual_seed(0)
    encoder = build_encoder(RunSpec(encoder=name, bits=7), channels + 7, 28).double().train()
    x, planes = torch.rand(6, channels, 28, 28, dtype=torch.float64), torch.randint(0, 2, (6, 7)).double()
    gradients = []
    for inputs in ((append_planes(x, planes),), (x, planes)):
        h = encoder(*inputs)
        encoder.zero_grad()
        h.square().sum().backward()
        gradients.append((h.detach(), [p.grad.clone() for p in encoder.parameters()]))
    (h, slow), (h_planes, fast) = gradients
    torch.testing.assert_close(h_planes, h)
    torch.testing.assert_close(fast, slow)
