"""Real files, written by the libraries themselves: opened, and features equal to the library's own, bit for bit."""

from types import SimpleNamespace

import pytest
import torch
from checkpoint_reference import filled, images
from torch import nn

from core.checkpoints import load_encoder
from core.models import build_encoder, build_head
from core.training import RunSpec


def features(module, side=32, channels=3):
    with torch.no_grad():
        return torch.flatten(module(images(side, channels)), 1)


@pytest.mark.parametrize("name", ["resnet18", "resnet50", "wide_resnet50_2", "resnext50_32x4d"])
def test_torchvision(tmp_path, name):
    import torchvision

    network = filled(getattr(torchvision.models, name)(), 0)
    torch.save(network.state_dict(), tmp_path / "model.pth")
    encoder, report = load_encoder(tmp_path / "model.pth")
    network.fc = nn.Identity()
    assert torch.equal(features(encoder), features(network))
    titles = {
        "resnet18": "ResNet-18",
        "resnet50": "ResNet-50",
        "wide_resnet50_2": "Wide ResNet-50-2",
        "resnext50_32x4d": "ResNeXt-50 32x4d",
    }
    assert report.architecture == titles[name] and report.layout == "torchvision"
    assert report.parameters == sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize(
    "name", ["resnet10t", "resnet18", "resnet26d", "resnet50", "vit_tiny_patch16_224", "vit_small_patch16_224"]
)
def test_timm_training_checkpoint(tmp_path, name):
    """Written by timm's own CheckpointSaver, with an argparse Namespace and moving averages inside."""
    import argparse

    import timm
    from timm.utils import CheckpointSaver, ModelEmaV3

    vit = name.startswith("vit")
    network = filled(timm.create_model(name, num_classes=5, **({"img_size": 32} if vit else {})), 0)
    average = ModelEmaV3(network)
    filled(average.module, 1)
    optimizer = torch.optim.AdamW(network.parameters())
    saver = CheckpointSaver(
        network,
        optimizer,
        args=argparse.Namespace(model=name),
        model_ema=average,
        checkpoint_dir=str(tmp_path),
        recovery_dir=str(tmp_path),
    )
    saver.save_checkpoint(epoch=3, metric=70.0)
    choices = {"heads": network.blocks[0].attn.num_heads} if vit else {}
    encoder, report = load_encoder(tmp_path / "last.pth.tar", **choices)
    raw, _ = load_encoder(tmp_path / "last.pth.tar", branch="state_dict", **choices)
    for module in (network, average.module):
        module.reset_classifier(0)
        module.eval()
    assert torch.equal(features(encoder), features(average.module))
    assert torch.equal(features(raw), features(network))
    assert report.layout == "timm" and report.branch == "state_dict_ema" and "argparse.Namespace" in report.ignored_globals


def lightly_simclr(backbone, width):
    from lightly.models.modules import SimCLRProjectionHead

    class SimCLR(nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = backbone
            self.projection_head = SimCLRProjectionHead(width, 64, 32)

        def forward(self, x):
            return self.projection_head(torch.flatten(self.backbone(x), 1))

    return filled(SimCLR(), 0)


@pytest.mark.parametrize("kind", ["torchvision", "lightly", "timm"])
def test_lightly_plain(tmp_path, kind):
    """`torch.save(model.state_dict())` as in lightly's examples; z of its own projection head too."""
    import timm
    import torchvision
    from lightly.models import ResNetGenerator

    if kind == "torchvision":
        backbone = nn.Sequential(*list(torchvision.models.resnet18().children())[:-1])
    elif kind == "lightly":
        backbone = nn.Sequential(*list(ResNetGenerator("resnet-18").children())[:-1], nn.AdaptiveAvgPool2d(1))
    else:
        backbone = timm.create_model("resnet18", num_classes=0)
    model = lightly_simclr(backbone, 512)
    torch.save(model.state_dict(), tmp_path / "simclr.pth")
    encoder, report = load_encoder(tmp_path / "simclr.pth")
    assert torch.equal(features(encoder), features(model.backbone))
    assert report.projector.text == "512 → 64 → 32, batch norm, no bias"
    with torch.no_grad():
        assert torch.equal(encoder.projector(features(encoder)), model(images()))
    assert report.layout == ("named" if kind == "timm" else "lightly")


def test_lightly_width_and_split_batch_norm(tmp_path):
    """lightly's own ResNet-9 of half the width with batch norms in four parts; its evaluation mode is the oracle."""
    from lightly.models import ResNetGenerator

    network = ResNetGenerator("resnet-9", width=0.5, num_splits=4).train()
    generator = torch.Generator().manual_seed(0)
    for name, buffer in network.named_buffers():
        if "running" in name:
            buffer.copy_(torch.rand(buffer.shape, generator=generator) + 0.5)
    torch.save(network.state_dict(), tmp_path / "split.pth")
    encoder, report = load_encoder(tmp_path / "split.pth")
    network.eval()
    network.linear = nn.Identity()
    assert report.architecture == "ResNet-10 ×0.5" and report.h_dim == 256
    assert torch.allclose(features(encoder), features(network), rtol=1e-5, atol=1e-6)  # avg_pool2d sums in another order


class _Module:
    """Builds the Lightning module late, because the import takes seconds."""

    @staticmethod
    def make():
        import pytorch_lightning as pl

        class Module(pl.LightningModule):
            def __init__(self, config=None, **kwargs):
                super().__init__()
                self.save_hyperparameters()
                import torchvision

                self.backbone = nn.Sequential(*list(torchvision.models.resnet18().children())[:-1])
                self.projection_head = lightly_simclr(nn.Identity(), 512).projection_head

            def training_step(self, batch, _):
                return self.projection_head(torch.flatten(self.backbone(batch[0]), 1)).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=1e-4, momentum=0.9)

        return pl, Module


@pytest.mark.parametrize("kind", ["plain", "omegaconf", "namespace"])
def test_lightning_checkpoint_of_a_trainer(tmp_path, kind):
    """One step of a real Trainer, its own checkpoint, hyper-parameters of three kinds (pitfall 21)."""
    import argparse
    import pathlib

    pl, module = _Module.make()
    settings = {"method": "simclr", "temperature": 0.2, "optimizer": {"lr": 0.1, "layers": [1, 2]}}
    if kind == "omegaconf":
        from omegaconf import OmegaConf

        settings = OmegaConf.create(settings)
    if kind == "namespace":
        settings = argparse.Namespace(temperature=0.2, data=pathlib.Path("/data"))
    model = module(settings)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images(count=4)), batch_size=4)
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    trainer.fit(model, data)
    trainer.save_checkpoint(tmp_path / "last.ckpt")
    encoder, report = load_encoder(tmp_path / "last.ckpt")
    model.eval()
    assert torch.equal(features(encoder), features(model.backbone))
    with torch.no_grad():
        assert torch.equal(encoder.projector(features(encoder)), model.projection_head(features(encoder)))
    assert report.layout == "lightly" and report.facts["pytorch-lightning_version"] == pl.__version__
    expected = {
        "plain": (),
        "omegaconf": ("omegaconf.dictconfig.DictConfig",),
        "namespace": ("argparse.Namespace", "pathlib.PosixPath"),
    }
    assert set(expected[kind]) <= set(report.ignored_globals)


@pytest.mark.parametrize(
    ("spec", "channels", "side", "architecture"),
    [
        (RunSpec(), 1, 28, "ConvN"),
        (RunSpec(width=2, bits=4, bn_eps=1e-3), 5, 32, "ConvN ×2"),
        (RunSpec(dataset="cifar10", encoder="resnet18", head_layers=3, bn_eps=1e-4), 3, 32, "ResNet-18"),
        (RunSpec(dataset="cifar10", encoder="resnet18", stem="imagenet", head_layers=1, bits=2), 5, 32, "ResNet-18"),
    ],
)
def test_own_runs(tmp_path, spec, channels, side, architecture):
    """Written by the training loop's own function; h and z equal those of the trained modules."""
    from core.training.loop import Run

    encoder = filled(build_encoder(spec, channels, side), 0)
    head = filled(build_head(spec, encoder.h_dim), 1)
    run = SimpleNamespace(
        encoder=encoder,
        objective=SimpleNamespace(head=head),
        probe=nn.Linear(encoder.h_dim, 10),
        spec=spec,
        images=SimpleNamespace(channels=channels, side=side),
    )
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(Run.checkpoint(run, ("zero", "one")))
    loaded, report = load_encoder(path)
    assert report.layout == "contrastive_lens" and report.architecture == architecture and report.classes == ("zero", "one")
    assert RunSpec(**{key: value for key, value in report.spec.items() if key != "spec_version"}) == spec
    assert torch.equal(features(loaded, side, channels), features(encoder, side, channels))
    with torch.no_grad():
        h = encoder(images(side, channels))
        assert torch.equal(loaded.projector(h), head(h))
    assert report.inputs == (
        {0: "grey" if channels == 1 else "3 colours", 4: "grey and 4 RandBit channels", 2: "3 colours and 2 RandBit channels"}[
            spec.bits
        ],
    )
